"""llama.cpp's own tests of its server against ours: those that apply pass, and the table of the others is about tests that there are."""

from __future__ import annotations

import pytest

from tests.asserting import every
from tests.clients import llama_server
from tests.clients.llama_table import NOT_HERE, reason

pytestmark = pytest.mark.xdist_group("llama")
Ran = tuple[dict[str, str], list[str]]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    if not llama_server.SOURCES.is_dir():
        pytest.skip("not set up: make test-clients does it")
    return llama_server.run(tmp_path_factory.mktemp("llama"))


@pytest.mark.timeout(3600)
def test_those_that_apply_pass(ran: Ran) -> None:
    passed, names = ran
    assert {name: problem for name, problem in passed.items() if problem} == {}
    assert set(passed) == {name for name in names if not reason(name)}


def test_the_others_are_tests_that_there_are(ran: Ran) -> None:
    _, names = ran
    known = {part for name in names for part in (name, name.partition("[")[0], name.partition("::")[0])}
    assert every(key in known for key in NOT_HERE)


def test_the_page_has_their_counts(ran: Ran) -> None:
    passed, names = ran
    page = (llama_server.ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert f"{len(passed)} of {len(names)} apply and" in page
