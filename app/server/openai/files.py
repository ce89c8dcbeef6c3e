"""`/v1/files`: files that clients upload, for vector stores."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Form, Query, UploadFile
from pydantic import BaseModel, Field
from starlette.responses import FileResponse, Response

from app.server.body import Hint, JsonRoute, RequestFields
from app.server.context import Here
from app.server.errors import ApiError, bad_request
from app.server.openai.file_store import UploadedFile
from app.server.openapi import errors

router = APIRouter(route_class=JsonRoute, tags=["OpenAI"])
T = TypeVar("T")
Order = Literal["asc", "desc"]
Page = Annotated[int, Query(ge=1, le=100)]


class FileUploadForm(RequestFields):
    file: UploadFile
    purpose: Literal["assistants", "batch", "fine-tune", "vision", "user_data", "evals"] = "user_data"
    seconds: Annotated[int, Field(ge=3600, le=2_592_000)] | None = Field(None, alias="expires_after[seconds]")
    anchor: Hint[str] = Field(None, alias="expires_after[anchor]")


class FileObject(BaseModel):
    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int
    expires_at: int | None
    filename: str
    purpose: str
    status: Literal["processed"] = "processed"


class FileList(BaseModel):
    object: Literal["list"] = "list"
    data: list[FileObject]
    first_id: str | None
    last_id: str | None
    has_more: bool


class FileDeleted(BaseModel):
    id: str
    object: Literal["file"] = "file"
    deleted: bool = True


_ERRORS = errors(400, 404)


@router.post("/v1/files", responses=errors(400))
async def upload(form: Annotated[FileUploadForm, Form()], server: Here) -> FileObject:
    """Keep a file."""
    files = server.vectors.files
    name = form.file.filename or "file"
    return _shown(await asyncio.to_thread(files.upload, name, form.purpose, form.file.file, form.seconds))


@router.get("/v1/files", responses=errors(400))
async def list_files(
    server: Here,
    after: str | None = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
    order: Order = "desc",
    purpose: str | None = None,
) -> FileList:
    """Files that were uploaded, the newest first."""
    found = await asyncio.to_thread(server.vectors.files.files)
    chosen = [_shown(file) for file in found if purpose in (None, file.purpose)]
    return FileList(**page(chosen, after, None, limit, order))


@router.get("/v1/files/{file_id}", responses=_ERRORS)
async def retrieve(file_id: str, server: Here) -> FileObject:
    """What is known of a file."""
    return _shown(await known_file(server, file_id))


@router.get("/v1/files/{file_id}/content", response_class=Response, responses=_ERRORS)
async def content(file_id: str, server: Here) -> Response:
    """The file itself."""
    file = await known_file(server, file_id)
    return FileResponse(
        server.vectors.files.content(file.id), media_type="application/octet-stream", filename=file.name
    )


@router.delete("/v1/files/{file_id}", responses=_ERRORS)
async def delete(file_id: str, server: Here) -> FileDeleted:
    """Delete a file. It leaves the vector stores that have it."""
    file = await known_file(server, file_id)
    for store in await asyncio.to_thread(server.vectors.files.delete_file, file.id):
        server.vectors.update(store)
    return FileDeleted(id=file.id)


async def known_file(server: Here, id: str) -> UploadedFile:
    found = await asyncio.to_thread(server.vectors.files.file, id)
    if found is None:
        raise ApiError(404, f"There is no file {id[:100]!r}.", code="file_not_found", param="file_id")
    return found


def _shown(file: UploadedFile) -> FileObject:
    return FileObject(
        id=file.id, bytes=file.nbytes, created_at=file.created, expires_at=file.expires, filename=file.name, purpose=file.purpose
    )  # fmt: skip


def page(items: list[Any], after: str | None, before: str | None, limit: int, order: Order) -> dict[str, Any]:
    """A part of a list whose oldest item is the first: `after` and `before` are ids."""
    items = items if order == "asc" else items[::-1]
    ids = [item.id for item in items]
    for name, cursor in (("after", after), ("before", before)):
        if cursor is not None and cursor not in ids:
            raise bad_request(f"There is no {cursor[:100]!r} in the list.", name)
    start = ids.index(after) + 1 if after is not None else 0
    end = ids.index(before) if before is not None else len(ids)
    if before is not None and after is None:  # the page that ends there
        start = max(0, end - limit)
    shown = items[start:end][:limit]
    first, last = (shown[0].id, shown[-1].id) if shown else (None, None)
    return {"data": shown, "first_id": first, "last_id": last, "has_more": end - start > len(shown)}
