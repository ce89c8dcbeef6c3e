"""`/v1/vector_stores`: libraries of uploaded files, which the tool `file_search` of `/v1/responses` searches as well."""

from __future__ import annotations

import asyncio
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field, StrictBool

from app.server.audio.models import served_models
from app.server.body import Hint, JsonRoute, RequestFields
from app.server.context import Here, Server
from app.server.errors import ApiError, bad_request
from app.server.openai.file_store import FileBatch, MemberStatus, NewMember, StoreMember, VectorStoreRecord
from app.server.openai.files import Order, Page, page
from app.server.openai.vector_index import FoundInFile, Keep
from app.server.openapi import errors

router = APIRouter(route_class=JsonRoute, tags=["OpenAI"])
_ERRORS = errors(400, 404)

Metadata = Annotated[
    dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]], Field(max_length=16)
]
AttributeValue = StrictBool | float | Annotated[str, Field(max_length=512)]
Attributes = Annotated[dict[Annotated[str, Field(max_length=64)], AttributeValue], Field(max_length=16)]
FileIds = Annotated[list[str], Field(max_length=2000)]


# -- bodies


class StoreExpiry(RequestFields):
    anchor: Literal["last_active_at"] = "last_active_at"
    days: Annotated[int, Field(ge=1, le=365)]


class CreateVectorStore(RequestFields):
    name: str | None = None
    description: str | None = None
    file_ids: FileIds | None = None
    metadata: Metadata | None = None
    expires_after: StoreExpiry | None = None
    embedding_model: str | None = None  # "": full text alone
    chunking_strategy: Hint[dict[str, Any]] = None


class UpdateVectorStore(RequestFields):
    name: str | None = None
    metadata: Metadata | None = None
    expires_after: StoreExpiry | None = None


class AddFile(RequestFields):
    file_id: str
    attributes: Attributes | None = None
    chunking_strategy: Hint[dict[str, Any]] = None


class AddFiles(RequestFields):
    file_ids: FileIds | None = None
    files: Annotated[list[AddFile], Field(max_length=2000)] | None = None
    attributes: Attributes | None = None
    chunking_strategy: Hint[dict[str, Any]] = None


class ChangeAttributes(RequestFields):
    attributes: Attributes | None = None


class ComparisonFilter(RequestFields):
    type: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"]
    key: str
    value: AttributeValue | list[AttributeValue]


class CompoundFilter(RequestFields):
    type: Literal["and", "or"]
    filters: list[FileFilter]


FileFilter = Annotated[ComparisonFilter | CompoundFilter, Field(discriminator="type")]


class RankingOptions(RequestFields):
    score_threshold: Annotated[float, Field(ge=0, le=1)] = 0.0
    ranker: Hint[str] = None
    hybrid_search: Hint[dict[str, Any]] = None


class SearchVectorStore(RequestFields):
    query: str | Annotated[list[str], Field(min_length=1, max_length=32)]
    max_num_results: Annotated[int, Field(ge=1, le=50)] = 10
    filters: FileFilter | None = None
    ranking_options: RankingOptions | None = None
    rewrite_query: Hint[bool] = None


# -- replies


class FileCounts(BaseModel):
    in_progress: int
    completed: int
    failed: int
    cancelled: int
    total: int


class VectorStoreObject(BaseModel):
    id: str
    object: Literal["vector_store"] = "vector_store"
    name: str
    description: str | None
    created_at: int
    last_active_at: int
    status: Literal["in_progress", "completed", "expired"]
    usage_bytes: int
    file_counts: FileCounts
    metadata: dict[str, str]
    expires_after: dict[str, Any] | None
    expires_at: int | None
    embedding_model: str | None


class FileError(BaseModel):
    code: Literal["server_error", "unsupported_file", "invalid_file"]
    message: str


class VectorStoreFileObject(BaseModel):
    id: str
    object: Literal["vector_store.file"] = "vector_store.file"
    vector_store_id: str
    created_at: int
    status: MemberStatus
    last_error: FileError | None
    usage_bytes: int
    attributes: dict[str, Any]
    chunking_strategy: dict[str, str] = {"type": "other"}  # at headings and paragraphs


class FileBatchObject(BaseModel):
    id: str
    object: Literal["vector_store.files_batch"] = "vector_store.files_batch"
    vector_store_id: str
    created_at: int
    status: MemberStatus
    file_counts: FileCounts


class _ListBody(BaseModel):
    object: Literal["list"] = "list"
    first_id: str | None
    last_id: str | None
    has_more: bool


class VectorStoreList(_ListBody):
    data: list[VectorStoreObject]


class VectorStoreFileList(_ListBody):
    data: list[VectorStoreFileObject]


class StoreText(BaseModel):
    type: Literal["text"] = "text"
    text: str


class StoreSearchResult(BaseModel):
    file_id: str
    filename: str
    score: float
    attributes: dict[str, Any]
    content: list[StoreText]


class StoreSearchPage(BaseModel):
    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    search_query: list[str]
    data: list[StoreSearchResult]
    has_more: bool = False
    next_page: str | None = None


class StoreFileContent(BaseModel):
    object: Literal["vector_store.file_content.page"] = "vector_store.file_content.page"
    data: list[StoreText]
    has_more: bool = False
    next_page: str | None = None


class VectorStoreDeleted(BaseModel):
    id: str
    object: Literal["vector_store.deleted"] = "vector_store.deleted"
    deleted: bool = True


class VectorStoreFileDeleted(BaseModel):
    id: str
    object: Literal["vector_store.file.deleted"] = "vector_store.file.deleted"
    deleted: bool = True


# -- vector stores


@router.post("/v1/vector_stores", responses=_ERRORS)
async def create(body: CreateVectorStore, server: Here) -> VectorStoreObject:
    """A library over files that were uploaded. They are indexed in the background."""
    files = server.vectors.files
    model = await _embedding_model(server, body.embedding_model)
    members = [NewMember(id) for id in dict.fromkeys(body.file_ids or ())]
    for one in members:
        if await asyncio.to_thread(files.file, one.file) is None:
            raise _no_file(one.file)
    days = body.expires_after.days if body.expires_after is not None else None
    store = await asyncio.to_thread(
        files.create_store, body.name or "", body.description, body.metadata or {}, days, model
    )
    if members:
        await asyncio.to_thread(files.add_members, store.id, members, False)
        server.vectors.update(store.id)
    return await asyncio.to_thread(_shown, server, store)


async def _embedding_model(server: Server, wanted: str | None) -> str:
    """Its name; nothing: full text alone. Where the client names none, the first served model that makes vectors and nothing else."""
    if wanted:
        return (await server.service.find(wanted, "embed"))[0]
    if wanted is not None:
        return ""
    able = await asyncio.to_thread(served_models, server, "embed")
    chats = await asyncio.to_thread(served_models, server, "chat")
    return next((name for name in able if name not in chats), "")


@router.get("/v1/vector_stores", responses=errors(400))
async def list_stores(
    server: Here, after: str | None = None, before: str | None = None, limit: Page = 20, order: Order = "desc"
) -> VectorStoreList:
    """All vector stores, the newest first."""
    stores = await asyncio.to_thread(lambda: [_shown(server, store) for store in server.vectors.files.stores()])
    return VectorStoreList(**page(stores, after, before, limit, order))


@router.get("/v1/vector_stores/{vector_store_id}", responses=_ERRORS)
async def retrieve(vector_store_id: str, server: Here) -> VectorStoreObject:
    """A vector store, and how far its files are."""
    return await asyncio.to_thread(_shown, server, await known_store(server, vector_store_id))


@router.post("/v1/vector_stores/{vector_store_id}", responses=_ERRORS)
async def update(vector_store_id: str, body: UpdateVectorStore, server: Here) -> VectorStoreObject:
    """Change its name, its metadata, when it expires."""
    await known_store(server, vector_store_id)
    given = body.model_dump(exclude_unset=True)
    changes = {name: value for name, value in given.items() if name in ("name", "metadata") and value is not None}
    if "expires_after" in given:
        changes["days"] = body.expires_after.days if body.expires_after is not None else None
    await asyncio.to_thread(server.vectors.files.change_store, vector_store_id, changes)
    return await retrieve(vector_store_id, server)


@router.delete("/v1/vector_stores/{vector_store_id}", responses=_ERRORS)
async def delete(vector_store_id: str, server: Here) -> VectorStoreDeleted:
    """Delete it with its index. The files stay."""
    await known_store(server, vector_store_id)
    await asyncio.to_thread(server.vectors.delete, vector_store_id)
    return VectorStoreDeleted(id=vector_store_id)


@router.post("/v1/vector_stores/{vector_store_id}/search", responses=_ERRORS)
async def search(vector_store_id: str, body: SearchVectorStore, server: Here) -> StoreSearchPage:
    """The passages that answer a question best, without a model that writes."""
    await usable_store(server, vector_store_id)
    queries = [body.query] if isinstance(body.query, str) else body.query
    found = await find(server, [vector_store_id], queries, body.max_num_results, body.filters, body.ranking_options)
    results = [
        StoreSearchResult(
            file_id=one.member.file,
            filename=one.filename,
            score=one.score,
            attributes=one.member.attributes,
            content=[StoreText(text=one.passage.text)],
        )
        for one in found
    ]
    return StoreSearchPage(search_query=queries, data=results)


async def find(
    server: Server,
    stores: Sequence[str],
    queries: Sequence[str],
    most: int,
    filters: FileFilter | None,
    ranking: RankingOptions | None,
) -> list[FoundInFile]:
    for query in queries:
        server.check_prompt(len(query))
        if not query.strip():
            raise bad_request("The query is empty.", "query")
    keep = None if filters is None else _kept_by(filters)
    least = 0.0 if ranking is None else ranking.score_threshold
    return await asyncio.wrap_future(server.vectors.search(stores, queries, most, keep, least))


# -- their files


@router.post("/v1/vector_stores/{vector_store_id}/files", responses=_ERRORS)
async def add_file(vector_store_id: str, body: AddFile, server: Here) -> VectorStoreFileObject:
    """Put an uploaded file into a vector store."""
    await usable_store(server, vector_store_id)
    await _add(server, vector_store_id, [NewMember(body.file_id, body.attributes or {})], False)
    return _shown_file(await _known_member(server, vector_store_id, body.file_id))


@router.get("/v1/vector_stores/{vector_store_id}/files", responses=_ERRORS)
async def list_members(
    vector_store_id: str,
    server: Here,
    after: str | None = None,
    before: str | None = None,
    limit: Page = 20,
    order: Order = "desc",
    filter: MemberStatus | None = None,
) -> VectorStoreFileList:
    """The files of a vector store, the newest first."""
    await known_store(server, vector_store_id)
    return await _listed(server, vector_store_id, "", after, before, limit, order, filter)


async def _listed(server: Server, store: str, batch: str, after: str | None, before: str | None,
                  limit: int, order: Order, filter: str | None) -> VectorStoreFileList:  # fmt: skip
    members = await asyncio.to_thread(server.vectors.files.members, store, batch)
    shown = [_shown_file(member) for member in members if filter in (None, member.status)]
    return VectorStoreFileList(**page(shown, after, before, limit, order))


@router.get("/v1/vector_stores/{vector_store_id}/files/{file_id}", responses=_ERRORS)
async def retrieve_file(vector_store_id: str, file_id: str, server: Here) -> VectorStoreFileObject:
    """A file of a vector store, with its state and what went wrong."""
    await known_store(server, vector_store_id)
    return _shown_file(await _known_member(server, vector_store_id, file_id))


@router.post("/v1/vector_stores/{vector_store_id}/files/{file_id}", responses=_ERRORS)
async def update_file(
    vector_store_id: str, file_id: str, body: ChangeAttributes, server: Here
) -> VectorStoreFileObject:
    """Change the attributes of a file, by which searches filter."""
    await known_store(server, vector_store_id)
    await _known_member(server, vector_store_id, file_id)
    files = server.vectors.files
    await asyncio.to_thread(files.change_attributes, vector_store_id, file_id, body.attributes or {})
    return _shown_file(await _known_member(server, vector_store_id, file_id))


@router.delete("/v1/vector_stores/{vector_store_id}/files/{file_id}", responses=_ERRORS)
async def remove_file(vector_store_id: str, file_id: str, server: Here) -> VectorStoreFileDeleted:
    """Take a file out of a vector store. The file itself stays."""
    await known_store(server, vector_store_id)
    await _known_member(server, vector_store_id, file_id)
    await asyncio.to_thread(server.vectors.files.remove_member, vector_store_id, file_id)
    server.vectors.update(vector_store_id)
    return VectorStoreFileDeleted(id=file_id)


@router.get("/v1/vector_stores/{vector_store_id}/files/{file_id}/content", responses=_ERRORS)
async def file_content(vector_store_id: str, file_id: str, server: Here) -> StoreFileContent:
    """The text of a file, in its passages."""
    await known_store(server, vector_store_id)
    member = await _known_member(server, vector_store_id, file_id)
    texts = await asyncio.wrap_future(server.vectors.texts(vector_store_id, member.path))
    return StoreFileContent(data=[StoreText(text=text) for text in texts])


# -- batches


@router.post("/v1/vector_stores/{vector_store_id}/file_batches", responses=_ERRORS)
async def add_files(vector_store_id: str, body: AddFiles, server: Here) -> FileBatchObject:
    """Put many uploaded files into a vector store."""
    await usable_store(server, vector_store_id)
    if (body.file_ids is None) == (body.files is None):
        raise bad_request("Give file_ids or files.", "file_ids")
    given = [NewMember(one.file_id, one.attributes or {}) for one in body.files or ()]
    given += [NewMember(id, body.attributes or {}) for id in body.file_ids or ()]
    batch = await _add(server, vector_store_id, list({one.file: one for one in given}.values()), True)
    assert batch is not None
    return await asyncio.to_thread(_shown_batch, server, batch)


@router.get("/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}", responses=_ERRORS)
async def retrieve_batch(vector_store_id: str, batch_id: str, server: Here) -> FileBatchObject:
    """How far the files of a batch are."""
    return await asyncio.to_thread(_shown_batch, server, await _known_batch(server, vector_store_id, batch_id))


@router.post("/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel", responses=_ERRORS)
async def cancel_batch(vector_store_id: str, batch_id: str, server: Here) -> FileBatchObject:
    """Leave out the files of a batch that are not indexed yet."""
    batch = await _known_batch(server, vector_store_id, batch_id)
    await asyncio.to_thread(server.vectors.files.cancel_batch, batch)
    server.vectors.update(vector_store_id)
    return await retrieve_batch(vector_store_id, batch_id, server)


@router.get("/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files", responses=_ERRORS)
async def list_batch(
    vector_store_id: str,
    batch_id: str,
    server: Here,
    after: str | None = None,
    before: str | None = None,
    limit: Page = 20,
    order: Order = "desc",
    filter: MemberStatus | None = None,
) -> VectorStoreFileList:
    """The files of a batch, the newest first."""
    await _known_batch(server, vector_store_id, batch_id)
    return await _listed(server, vector_store_id, batch_id, after, before, limit, order, filter)


# -- what they share


async def known_store(server: Server, id: str) -> VectorStoreRecord:
    store = await asyncio.to_thread(server.vectors.files.store, id)
    if store is None:
        message = f"There is no vector store {id[:100]!r}."
        raise ApiError(404, message, code="vector_store_not_found", param="vector_store_id")
    return store


async def usable_store(server: Server, id: str) -> VectorStoreRecord:
    """One that has not expired."""
    store = await known_store(server, id)
    if server.vectors.files.is_expired(store):
        raise ApiError(400, f"The vector store {id} has expired.", code="vector_store_expired", param="vector_store_id")
    return store


async def _add(server: Server, store: str, members: list[NewMember], batched: bool) -> FileBatch | None:
    for one in members:
        if await asyncio.to_thread(server.vectors.files.file, one.file) is None:
            raise _no_file(one.file)
    batch = await asyncio.to_thread(server.vectors.files.add_members, store, members, batched)
    server.vectors.update(store)
    return batch


def _no_file(id: str) -> ApiError:
    return ApiError(404, f"There is no file {id[:100]!r}.", code="file_not_found", param="file_id")


async def _known_member(server: Server, store: str, file: str) -> StoreMember:
    member = await asyncio.to_thread(server.vectors.files.member, store, file)
    if member is None:
        message = f"The vector store has no file {file[:100]!r}."
        raise ApiError(404, message, code="file_not_found", param="file_id")
    return member


async def _known_batch(server: Server, store: str, id: str) -> FileBatch:
    await known_store(server, store)
    batch = await asyncio.to_thread(server.vectors.files.batch, store, id)
    if batch is None:
        raise ApiError(404, f"There is no batch {id[:100]!r}.", code="batch_not_found", param="batch_id")
    return batch


def _shown(server: Server, store: VectorStoreRecord) -> VectorStoreObject:
    members = server.vectors.files.members(store.id)
    counts = _counts(members)
    expired = server.vectors.files.is_expired(store)
    return VectorStoreObject(
        id=store.id,
        name=store.name,
        description=store.description,
        created_at=store.created,
        last_active_at=store.active,
        status="expired" if expired else "in_progress" if counts.in_progress else "completed",
        usage_bytes=sum(member.nbytes for member in members if member.status == "completed"),
        file_counts=counts,
        metadata=store.metadata,
        expires_after=None if store.days is None else {"anchor": "last_active_at", "days": store.days},
        expires_at=store.expires,
        embedding_model=store.model or None,
    )


def _counts(members: Iterable[StoreMember]) -> FileCounts:
    found = Counter(member.status for member in members)
    return FileCounts(
        in_progress=found["in_progress"],
        completed=found["completed"],
        failed=found["failed"],
        cancelled=found["cancelled"],
        total=found.total(),
    )


def _shown_file(member: StoreMember) -> VectorStoreFileObject:
    code: Any = member.code
    return VectorStoreFileObject(
        id=member.file,
        vector_store_id=member.store,
        created_at=member.created,
        status=member.status,
        last_error=FileError(code=code, message=member.error) if code else None,
        usage_bytes=member.nbytes if member.status == "completed" else 0,
        attributes=member.attributes,
    )


def _shown_batch(server: Server, batch: FileBatch) -> FileBatchObject:
    counts = _counts(server.vectors.files.members(batch.store, batch.id))
    status: MemberStatus = "in_progress" if counts.in_progress else "completed"
    if counts.total and counts.failed == counts.total:
        status = "failed"
    return FileBatchObject(
        id=batch.id,
        vector_store_id=batch.store,
        created_at=batch.created,
        status="cancelled" if batch.cancelled else status,
        file_counts=counts,
    )


# -- filters

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


def _kept_by(filters: FileFilter) -> Keep:
    """A file without the attribute fits `ne` and `nin` alone."""
    if isinstance(filters, CompoundFilter):
        parts = [_kept_by(one) for one in filters.filters]
        together = all if filters.type == "and" else any
        return lambda attributes: together(part(attributes) for part in parts)
    key, kind, value = filters.key, filters.type, filters.value
    if isinstance(value, list) != (kind in ("in", "nin")):
        raise bad_request(
            f"{kind} compares with {'a list' if kind in ('in', 'nin') else 'one value'}.", "filters.value"
        )

    def keep(attributes: Mapping[str, Any]) -> bool:
        has = attributes.get(key)
        if kind in ("eq", "ne"):
            return (has == value) == (kind == "eq")
        if isinstance(value, list):
            return (has in value) == (kind == "in")
        return has is not None and isinstance(has, str) == isinstance(value, str) and _ORDERS[kind](has, value)

    return keep


CompoundFilter.model_rebuild()
