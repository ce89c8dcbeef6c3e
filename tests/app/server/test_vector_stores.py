"""Uploaded files, vector stores and `file_search` over a socket, with OpenAI's own client: by full text, and with an embedding model."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai.types.responses import ResponseFileSearchToolCall, ResponseOutputMessage
from openai.types.responses.response_output_text import AnnotationFileCitation

from app.runtime.catalogue import Catalogue
from app.server.openai.file_store import FileStore, NewMember
from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.types import Settings
from tests.app.server.live import Live, scripted, serving
from tests.asserting import every
from tests.checkpoints import save as save_decoder
from tests.encoder_checkpoints import save, save_modules
from tests.engine.media.test_documents import text_pdf

LEASE = b"# Lease\n\nThe lease of the mill ends on 3 May 2031.\n\n# Rent\n\nThe rent is 410 crowns a month."
CRANES = b"Cranes migrate in autumn. They rest on the mudflats of Orsund."


@pytest.fixture
def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)


def upload(client: openai.OpenAI, name: str, data: bytes) -> str:
    return client.files.create(file=(name, data), purpose="assistants").id


@pytest.fixture
def store(client: openai.OpenAI) -> Iterator[str]:
    """With two documents."""
    made = client.vector_stores.create(name="papers")
    batch = client.vector_stores.file_batches.upload_and_poll(
        made.id, files=[("lease.md", LEASE), ("birds.txt", CRANES)], poll_interval_ms=20
    )
    assert (batch.status, batch.file_counts.completed) == ("completed", 2)
    yield made.id
    client.vector_stores.delete(made.id)


def question(live: Live) -> str:
    """What the model was asked."""
    tokenizer = live.service.loaded["tiny"].tokenizer
    return str(tokenizer.decode(live.engine.requests[-1].prompt_ids))


# -- files


def test_files_are_kept_listed_and_deleted(client: openai.OpenAI) -> None:
    made = client.files.create(file=("a/../Notes.txt", b"crane"), purpose="user_data")
    assert (made.filename, made.bytes, made.purpose, made.status) == ("Notes.txt", 5, "user_data", "processed")
    assert client.files.retrieve(made.id) == made
    assert client.files.content(made.id).read() == b"crane"
    other = upload(client, "b.txt", b"heron")
    assert [file.id for file in client.files.list(limit=1)][:2] == [other, made.id]  # the client turns the pages
    assert [file.id for file in client.files.list(purpose="user_data")] == [made.id]
    assert every(client.files.delete(id).deleted for id in (made.id, other))
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(made.id)


def test_files_that_expire_are_gone(tmp_path: Path) -> None:
    now = [1000.0]
    files = FileStore(str(tmp_path / "files"), clock=lambda: now[0])
    short, long = (files.upload(f"{seconds}.txt", "user_data", io.BytesIO(b"x"), seconds) for seconds in (3600, None))
    store = files.create_store("s", None, {}, 2, "")
    now[0] += 3601
    assert [file.id for file in files.files()] == [long.id]
    assert not files.content(short.id).exists()
    assert not files.is_expired(store)
    now[0] += 2 * 24 * 3600
    assert files.is_expired(store)
    files.close()


# -- vector stores


def test_a_vector_store_is_created_changed_listed_and_deleted(client: openai.OpenAI) -> None:
    file = upload(client, "lease.md", LEASE)
    made = client.vector_stores.create(
        name="Papers", metadata={"of": "1"}, file_ids=[file], expires_after={"anchor": "last_active_at", "days": 7}
    )
    assert made.expires_at == (made.last_active_at or 0) + 7 * 24 * 3600
    changed = client.vector_stores.update(made.id, name="Old papers", metadata={"of": "2"}, expires_after=None)
    assert (changed.name, changed.metadata, changed.expires_after) == ("Old papers", {"of": "2"}, None)
    assert client.vector_stores.retrieve(made.id).file_counts.total == 1
    second = client.vector_stores.create()
    assert [one.id for one in client.vector_stores.list(limit=1)][:2] == [second.id, made.id]
    for id in (made.id, second.id):
        assert client.vector_stores.delete(id).object == "vector_store.deleted"
    with pytest.raises(openai.NotFoundError):
        client.vector_stores.retrieve(made.id)
    assert client.files.retrieve(file).id == file


def test_documents_of_many_kinds_are_found(client: openai.OpenAI, store: str) -> None:
    pdf = upload(client, "pump.pdf", text_pdf("The fuse of the pump is rated at 16 amperes."))
    code = upload(client, "spin.py", b"def gyrate(crane):\n    return crane * 2\n")
    for id in (pdf, code):
        made = client.vector_stores.files.create_and_poll(id, vector_store_id=store, poll_interval_ms=20)
        assert (made.status, made.last_error) == ("completed", None)
    for asked, name in (
        ("When does the lease end?", "lease.md"),
        ("amperes of the fuse", "pump.pdf"),
        ("gyrate", "spin.py"),
    ):
        first = client.vector_stores.search(store, query=asked).data[0]
        assert (first.filename, first.score <= 1.0) == (name, True)
    content = client.vector_stores.files.content(pdf, vector_store_id=store).data
    assert [part.text for part in content] == ["The fuse of the pump is rated at 16 amperes."]
    assert client.vector_stores.files.delete(pdf, vector_store_id=store).deleted
    assert "pump.pdf" not in {one.filename for one in client.vector_stores.search(store, query="amperes of the fuse")}
    client.files.delete(code)
    assert client.vector_stores.search(store, query="gyrate").data == []


def test_what_cannot_be_read_says_why(client: openai.OpenAI, store: str) -> None:
    for name, data, code in (("x.bin", b"\0\1\2", "unsupported_file"), ("x.pdf", b"%PDF-1.7 broken", "invalid_file")):
        id = upload(client, name, data)
        made = client.vector_stores.files.create_and_poll(id, vector_store_id=store, poll_interval_ms=20)
        assert made.last_error is not None
        assert (made.status, made.last_error.code) == ("failed", code)
    assert client.vector_stores.retrieve(store).file_counts.failed == 2
    failed = client.vector_stores.files.list(store, filter="failed")
    assert len(failed.data) == 2


@pytest.mark.parametrize("name", ["報告" * 150 + ".txt", "..", "a\tb.txt"])
def test_any_name_of_a_file_is_kept_and_indexed(client: openai.OpenAI, store: str, name: str) -> None:
    file = upload(client, name, b"The heron waits.")
    member = client.vector_stores.files.create_and_poll(file, vector_store_id=store, poll_interval_ms=50)
    assert (member.status, member.last_error) == ("completed", None)
    assert client.files.content(file).read() == b"The heron waits."


def test_a_search_is_filtered_and_limited(client: openai.OpenAI, store: str) -> None:
    years = {}
    for year in (2020, 2021, 2022):
        id = upload(client, f"{year}.txt", f"The harbour report of {year} counts ships.".encode())
        client.vector_stores.files.create_and_poll(
            id, vector_store_id=store, attributes={"year": year, "kind": "report"}, poll_interval_ms=20
        )
        years[id] = year

    def found(filters: Any) -> set[int]:
        page = client.vector_stores.search(store, query="harbour report", filters=filters)
        return {years[one.file_id] for one in page}

    assert found({"type": "eq", "key": "year", "value": 2021}) == {2021}
    assert found({"type": "gte", "key": "year", "value": 2021}) == {2021, 2022}
    assert found({"type": "nin", "key": "year", "value": [2020]}) == {2021, 2022}
    either = [{"type": "eq", "key": "year", "value": year} for year in (2020, 2022)]
    kind = {"type": "eq", "key": "kind", "value": "report"}
    assert found({"type": "and", "filters": [kind, {"type": "or", "filters": either}]}) == {2020, 2022}
    assert found({"type": "eq", "key": "kind", "value": "letter"}) == set()
    assert len(client.vector_stores.search(store, query="harbour", max_num_results=2).data) == 2
    best = client.vector_stores.search(store, query="harbour 2021", ranking_options={"score_threshold": 1.0}).data
    assert [years[one.file_id] for one in best] == [2021]
    id = next(iter(years))
    client.vector_stores.files.update(id, vector_store_id=store, attributes={"kind": "letter"})
    assert found({"type": "eq", "key": "kind", "value": "letter"}) == {years[id]}


def test_a_batch_is_listed_and_cancelled(client: openai.OpenAI, store: str) -> None:
    ids = [upload(client, f"{n}.txt", b"A crane.") for n in range(3)]
    batch = client.vector_stores.file_batches.create(store, files=[{"file_id": id} for id in ids])
    assert batch.file_counts.total == 3
    cancelled = client.vector_stores.file_batches.cancel(batch.id, vector_store_id=store)
    assert cancelled.status == "cancelled"
    assert cancelled.file_counts.in_progress == 0
    listed = client.vector_stores.file_batches.list_files(batch.id, vector_store_id=store, order="asc")
    assert [file.id for file in listed] == ids


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/v1/vector_stores/vs_none", None, 404, "vector_store_not_found"),
        ("POST", "/v1/vector_stores", {"file_ids": ["file-none"]}, 404, "file_not_found"),
        ("POST", "/v1/vector_stores", {"embedding_model": "none"}, 404, "model_not_found"),
        ("POST", "/v1/vector_stores", {"metadata": {"k": "v" * 513}}, 400, "bad_request"),
        ("POST", "/v1/vector_stores/{store}/search", {"query": " "}, 400, "bad_request"),
        ("POST", "/v1/vector_stores/{store}/search", {"query": "x", "max_num_results": 51}, 400, "bad_request"),
        ("POST", "/v1/vector_stores/{store}/search",
         {"query": "x", "filters": {"type": "in", "key": "k", "value": 1}}, 400, "bad_request"),
        ("POST", "/v1/vector_stores/{store}/file_batches", {}, 400, "bad_request"),
        ("GET", "/v1/vector_stores/{store}/file_batches/vsfb_none", None, 404, "batch_not_found"),
        ("GET", "/v1/vector_stores/{store}/files?after=file-none", None, 400, "bad_request"),
        ("GET", "/v1/vector_stores/{store}/files/file-none", None, 404, "file_not_found"),
        ("GET", "/v1/files/..%2Ffiles.sqlite3/content", None, 404, "not_found_error"),
    ],
)  # fmt: skip
def test_errors_have_a_status_and_a_code(
    live: Live, store: str, method: str, path: str, body: Any, status: int, code: str
) -> None:
    reply = httpx.request(method, live.url + path.format(store=store), json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)


def test_a_server_that_was_stopped_continues_with_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    files = FileStore(str(folder))
    made = files.upload("lease.md", "assistants", io.BytesIO(LEASE), None)
    kept = files.create_store("Papers", None, {}, None, "")
    files.add_members(kept.id, [NewMember(made.id)], False)
    files.close()
    with scripted(tmp_path, files_dir=str(folder)) as live:
        client = openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0)
        assert (
            client.vector_stores.files.poll(made.id, vector_store_id=kept.id, poll_interval_ms=20).status == "completed"
        )
        assert client.vector_stores.search(kept.id, query="rent of the mill").data[0].file_id == made.id


# -- file_search


def searched(client: openai.OpenAI, store: str, **more: Any) -> Any:
    tool: Any = {"type": "file_search", "vector_store_ids": [store], **more.pop("tool", {})}
    return client.responses.create(
        model="tiny", input=more.pop("input", "When does the lease of the mill end?"), tools=[tool], **more
    )


def test_a_response_searches_and_cites(client: openai.OpenAI, live: Live, store: str) -> None:
    live.engine.reply = "It ends on 3 May 2031 [1], as said [9]."
    made = searched(client, store, include=["file_search_call.results"])
    call, message = made.output
    assert isinstance(call, ResponseFileSearchToolCall)
    assert (call.status, call.queries) == ("completed", ["When does the lease of the mill end?"])
    assert call.results is not None
    assert (call.results[0].filename, call.results[0].text) == ("lease.md", "The lease of the mill ends on 3 May 2031.")
    assert isinstance(message, ResponseOutputMessage)
    (part,) = message.content
    (cited,) = part.annotations  # type: ignore[union-attr]
    assert isinstance(cited, AnnotationFileCitation)
    assert (cited.file_id, cited.filename) == (call.results[0].file_id, "lease.md")
    assert made.output_text[: cited.index].endswith("[1]")
    assert "[1] " in question(live)
    assert "ends on 3 May 2031" in question(live)
    assert made.tools[0].vector_store_ids == [store]
    # what is continued has the answer, and reads nothing of the passages again
    live.engine.reply = "Gladly."
    follow = client.responses.create(model="tiny", input="Thanks.", previous_response_id=made.id)
    assert "as said [9]" in question(live)
    assert "410 crowns" not in question(live)
    again = client.responses.create(model="tiny", input=[*made.output, {"role": "user", "content": "And?"}])  # type: ignore[list-item]
    assert (follow.output_text, again.output_text) == ("Gladly.", "Gladly.")


def test_results_are_returned_only_where_they_are_asked_for(client: openai.OpenAI, live: Live, store: str) -> None:
    made = searched(client, store)
    assert made.output[0].results is None
    assert made.output_text == "Hello there."


def test_a_stream_has_the_events_of_the_search(client: openai.OpenAI, live: Live, store: str) -> None:
    live.engine.reply = "On 3 May [1]."
    with client.responses.stream(
        model="tiny", input="When does the lease end?", tools=[{"type": "file_search", "vector_store_ids": [store]}]
    ) as stream:
        seen = list(stream)
        final = stream.get_final_response()
    kinds = [event.type for event in seen]
    states = [kind for kind in kinds if kind.startswith("response.file_search_call")]
    assert states == [f"response.file_search_call.{state}" for state in ("in_progress", "searching", "completed")]
    assert [event.output_index for event in seen if event.type == "response.output_item.done"] == [0, 1]
    (added,) = [event for event in seen if event.type == "response.output_text.annotation.added"]
    assert dict(added.annotation) == dict(final.output[1].content[0].annotations[0])  # type: ignore[arg-type,union-attr]
    assert [event.sequence_number for event in seen if hasattr(event, "sequence_number")] == sorted(
        event.sequence_number for event in seen if hasattr(event, "sequence_number")
    )


def test_choices_of_the_tool(client: openai.OpenAI, live: Live, store: str) -> None:
    assert [item.type for item in searched(client, store, tool_choice={"type": "file_search"}).output] == [
        "file_search_call",
        "message",
    ]
    assert searched(client, store, tool_choice="required").output[0].type == "file_search_call"
    assert [item.type for item in searched(client, store, tool_choice="none").output] == ["message"]
    parts = [{"role": "user", "content": [{"type": "input_text", "text": "rent of the mill"}]}]
    made = searched(client, store, input=parts, include=["file_search_call.results"], tool={"max_num_results": 1})
    assert [one.text for one in made.output[0].results] == ["The rent is 410 crowns a month."]
    with pytest.raises(openai.NotFoundError) as caught:
        searched(client, "vs_none")
    assert caught.value.code == "vector_store_not_found"


def test_passages_that_do_not_fit_are_left_out(client: openai.OpenAI, live: Live, store: str) -> None:
    """The scripted model reads 4,096 tokens, each of them a letter."""
    long = upload(client, "long.txt", b"\n\n".join(b"The mill ground rye. " * 40 for _ in range(8)))
    client.vector_stores.files.create_and_poll(long, vector_store_id=store, poll_interval_ms=20)
    made = searched(client, store, input="What did the mill grind?", include=["file_search_call.results"],
                    tool={"max_num_results": 8})  # fmt: skip
    assert len(made.output[0].results) == 8
    assert made.usage.input_tokens <= 4096 - 512
    assert "ground rye" in question(live)


# -- with an embedding model


@pytest.fixture(scope="module")
def embedding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("embedding")
    encoder, writer = save("bert", folder / "encoder"), save_decoder("qwen3", folder / "writer")
    save_modules(encoder, "mean_tokens")
    where = LoadOptions(backend="auto", device="cpu", dtype="f32", memory_limit=1 << 30, download=False)
    catalogue = Catalogue({"writer": str(writer), "encoder": str(encoder)}, use_cache=False)
    settings = Settings(gpu_memory_limit="1G")
    with serving(lambda of: Engine(of, settings), lambda source: load_any(source, where), catalogue) as live:
        yield live


@pytest.mark.slow
def test_vectors_of_a_served_model_join_the_words(embedding: Live) -> None:
    client = openai.OpenAI(base_url=f"{embedding.url}/v1", api_key="none", max_retries=0)
    made = client.vector_stores.create(name="both")
    assert made.model_dump()["embedding_model"] == "encoder"
    batch = client.vector_stores.file_batches.upload_and_poll(
        made.id, files=[("lease.md", LEASE), ("birds.txt", CRANES)], poll_interval_ms=20
    )
    assert batch.file_counts.completed == 2
    found = client.vector_stores.search(made.id, query="xylophone").data
    assert len(found) == 3  # no word of it is there: vectors alone find, and everything is near
    assert client.vector_stores.search(made.id, query="lease of the mill").data[0].filename == "lease.md"
    plain = client.vector_stores.create(name="words", extra_body={"embedding_model": ""})
    assert plain.model_dump()["embedding_model"] is None
    file = upload(client, "lease.md", LEASE)
    client.vector_stores.files.create_and_poll(file, vector_store_id=plain.id, poll_interval_ms=20)
    assert client.vector_stores.search(plain.id, query="xylophone").data == []
    answered = client.responses.create(
        model="writer",
        input="When does the lease end?",
        tools=[{"type": "file_search", "vector_store_ids": [made.id]}],
        max_output_tokens=4,
        include=["file_search_call.results"],
    )
    assert answered.output[0].results[0].filename == "lease.md"  # type: ignore[union-attr,index]


def test_a_large_batch_is_indexed_beside_replies(client: openai.OpenAI, live: Live, store: str) -> None:
    ids = [upload(client, f"{n}.txt", f"Ledger {n} names crane {n}.".encode()) for n in range(30)]
    client.vector_stores.file_batches.create(store, file_ids=ids)
    assert client.responses.create(model="tiny", input="Hi").output_text == "Hello there."
    deadline = time.monotonic() + 60
    while client.vector_stores.retrieve(store).status != "completed":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert client.vector_stores.search(store, query="Ledger 17").data[0].filename == "17.txt"
