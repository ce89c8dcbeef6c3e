"""docs/api.md against the server: every route, field and error code is documented, and every example gets its documented reply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine import errors
from tests.app.server.live import Live, scripted

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```http\n(.*?)```", PAGE, re.DOTALL)
EXAMPLES = list(zip(BLOCKS[::2], BLOCKS[1::2]))
CHANGING = {"id", "created", "system_fingerprint"}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with scripted(tmp_path_factory.mktemp("page"), name="my-model") as live:
        httpx.post(f"{live.url}/v1/load", json={"model": "my-model"})
        yield live


@pytest.fixture(scope="module")
def document(live: Live) -> Any:
    return httpx.get(f"{live.url}/openapi.json", timeout=60).json()


def objects(text: str) -> list[Any]:
    """A reply's objects: one, or one a line, or one an event."""
    try:
        return [json.loads(text)]
    except ValueError:
        lines = [line.removeprefix("data: ") for line in text.splitlines() if line.strip()]
        return [line if line == "[DONE]" else json.loads(line) for line in lines]


def agrees(expected: Any, found: Any, where: str = "") -> None:
    """Everything that the page says is so; a reply may say more."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert key in found, f"{where}.{key} is missing"
            if key not in CHANGING:
                agrees(value, found[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for at, (one, other) in enumerate(zip(expected, found)):
            agrees(one, other, f"{where}[{at}]")
    else:
        assert found == expected, where


@pytest.mark.parametrize(("asked", "answered"), EXAMPLES, ids=[asked.partition("\n")[0] for asked, _ in EXAMPLES])
def test_an_example_is_answered_as_the_page_says(live: Live, asked: str, answered: str) -> None:
    head, _, body = asked.partition("\n")
    method, path = head.split()
    status, _, expected = answered.partition("\n")
    reply = httpx.request(method, live.url + path, json=json.loads(body) if body.strip() else None)
    assert reply.status_code == int(status)
    agrees(objects(expected), objects(reply.text))


def test_every_route_and_field_is_on_the_page(document: Any) -> None:
    sections = dict(re.findall(r"^### (.*?)\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE))
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            route = f"{method.upper()} {path}"
            assert route in PAGE, f"{route} is not on the page"
            body = next(iter(operation.get("requestBody", {}).get("content", {}).values()), {}).get("schema", {})
            fields = document["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], {})
            missing = [name for name in fields.get("properties", {}) if f"`{name}`" not in sections.get(route, "")]
            assert missing == [], f"{route} does not tell of {missing}"


def test_every_error_code_is_on_the_page() -> None:
    own = {
        code
        for path in (ROOT / "app" / "server").rglob("*.py")
        for code in re.findall(r'code="(\w+)"', path.read_text())
    }
    engines = {
        kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.GrusError)
    }
    assert sorted(code for code in (own | engines) - {"error"} if f"`{code}`" not in PAGE) == []
