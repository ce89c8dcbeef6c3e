"""Property tests of the OpenAPI document: no input causes a fault or a reply of another schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st
from schemathesis.core.errors import InvalidSchema
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.server import app as application
from tests.app.server.live import Live, scripted

CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
# asks for the network, or takes the model away from the other tests
LEFT_OUT = ("/api/pull", "/v1/unload")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("described")) as live:
        live.engine.reply = "ab"
        yield live


@pytest.fixture(scope="module")
def described(live: Live) -> Any:
    return schemathesis.openapi.from_url(f"{live.url}/openapi.json")


def operations() -> list[tuple[str, str]]:
    """Every route, without starting a server."""
    found = []
    for family in application.FAMILIES:
        for route in family.router.routes:
            if isinstance(route, APIRoute) and route.include_in_schema and route.path not in LEFT_OUT:
                found += [(method, route.path) for method in sorted(route.methods)]
    return found


def attack(described: Any, live: Live, path: str, method: str, examples: int) -> None:
    template = path.replace("{id:path}", "{id}")
    operation = described[template][method]

    # without a body there is nothing that could be wrong
    modes = [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if operation.body else [])]
    for mode in modes:

        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.data(), st.just(operation.as_strategy(generation_mode=mode)))
        def holds(data: Any, cases: Any) -> None:
            try:
                case = data.draw(cases)
            except InvalidSchema as error:
                # a filter in a filter in a filter: not every wrong one that is drawn can be built. Hypothesis fails
                # when none could be.
                if "Cannot generate" not in str(error):
                    raise
                reject()
            response = case.call(timeout=10)
            assert response.status_code < 500
            case.validate_response(response, checks=CHECKS)

        holds()


def test_every_name_is_defined(live: Live) -> None:
    """Those of errors are not FastAPI's own."""
    document = httpx.get(f"{live.url}/openapi.json").json()
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert {"OpenAIError", "AnthropicError", "OllamaError"} <= named
    assert named <= document["components"]["schemas"].keys()


def test_no_pattern_repeats_a_class_of_unicode(live: Live) -> None:
    """`\\w` up to 200 times took 18 MB of every server's memory; how long a text may be is `maxLength`."""
    patterns = set(re.findall(r'"pattern":\s*("(?:[^"\\]|\\.)*")', httpx.get(f"{live.url}/openapi.json").text))
    assert len(patterns) >= 3
    assert not [pattern for pattern in patterns if re.search(r"\\[wds]\S*\{", json.loads(pattern))]


@pytest.mark.parametrize(("method", "path"), operations())
def test_the_document_is_kept(described: Any, live: Live, method: str, path: str) -> None:
    attack(described, live, path, method, examples=4)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path"), operations())
def test_the_document_is_kept_for_long(described: Any, live: Live, method: str, path: str) -> None:
    attack(described, live, path, method, examples=100)
