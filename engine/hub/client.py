"""Requests to the hub: with the right token, to the hub alone, and again where the hub is busy or a connection broke.

A redirect to another host, such as the storage that large files lie on, is followed without the token.
"""

from __future__ import annotations

import errno
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urljoin, urlsplit

from engine.errors import AccessRefused, DiskFull, ErrorText, GrusError, ModelNotFound, Offline
from engine.hub import library
from engine.hub.token import token

_T = TypeVar("_T")
PATIENCE = 30.0  # seconds without a byte; then the connection counts as broken
LONGEST_WAIT = 60.0  # seconds that the hub may ask to wait; longer waits are an error
_PAUSES = (0.5, 1.5)  # seconds before each further attempt
_BUSY = (408, 429, 500, 502, 503, 504)
_MOST_REDIRECTS = 10
_BROKEN = {"TransportError", "ConnectionError", "ChunkedEncodingError", "StreamError"}
_UNREACHABLE = {"ConnectError", "ConnectTimeout", "ProxyError", "OfflineModeIsEnabled"}
_RESET = re.compile(r";\s*t=(\d+)")


@dataclass(frozen=True)
class FileFacts:
    """What the hub says of a file before it is fetched."""

    etag: str
    size: int | None


def file_url(repo: str, name: str, commit: str) -> str:
    return f"{library.endpoint()}/{repo}/resolve/{quote(commit, safe='')}/{quote(name)}"


def headers() -> dict[str, str]:
    """For the hub alone: a token may be among them."""
    return dict(library.hub().utils.build_hf_headers(token=token(library.endpoint())))


def file_facts(url: str) -> FileFacts:
    """Asks for the head of a file. Of one that lies on another host, the hub itself gives checksum and size."""
    asked = {**headers(), "Accept-Encoding": "identity"}
    for _ in range(_MOST_REDIRECTS):
        response = library.hub().utils.get_session().request(
            "HEAD", url, headers=asked, follow_redirects=False, timeout=PATIENCE
        )  # fmt: skip
        target = _redirected(url, response)
        if target is None or _origin(target) != _origin(url):
            break
        url = target
    else:
        raise GrusError(ErrorText("The hub redirects a file in a circle. Try again later."))
    if not response.is_redirect:
        library.hub().utils.hf_raise_for_status(response)
    received = response.headers
    etag = (received.get("X-Linked-ETag") or received.get("ETag") or "").strip().removeprefix("W/").strip('"')
    size = received.get("X-Linked-Size") or (None if response.is_redirect else received.get("Content-Length"))
    return FileFacts(etag, int(size) if size and size.isdigit() else None)


@contextmanager
def opened(url: str, more: Mapping[str, str]) -> Iterator[Any]:
    """A file's response, to be read piece by piece; `more` are further headers."""
    asked = {**headers(), "Accept-Encoding": "identity", **more}
    for _ in range(_MOST_REDIRECTS):
        with library.hub().utils.get_session().stream(
            "GET", url, headers=asked, follow_redirects=False, timeout=PATIENCE
        ) as response:  # fmt: skip
            target = _redirected(url, response)
            if target is None:
                if response.is_error:
                    response.read()  # what it says is in the body
                library.hub().utils.hf_raise_for_status(response)
                yield response
                return
        if _origin(target) != _origin(url):
            asked = {key: value for key, value in asked.items() if key.lower() != "authorization"}
        url = target
    raise GrusError(ErrorText("The hub redirects a file in a circle. Try again later."))


def persistent(ask: Callable[[], _T], waiting: Callable[[str], None], tick: Callable[[], None]) -> _T:
    """`ask`, a few times where the hub is busy or a connection breaks. `waiting` hears why it takes long, and an empty
    sentence when it resumes; raising from `tick` gives up."""
    for attempt in range(len(_PAUSES) + 1):
        try:
            return ask()
        except Exception as error:
            pause = pause_for(error, attempt)
            if pause is None:
                raise
            rest_for(error, pause, waiting, tick)
    raise AssertionError("the last attempt returns or raises")


def pause_for(error: Exception, attempt: int, unreachable: bool = False) -> float | None:
    """Seconds to the next attempt; None where another one is of no use. `unreachable`: also where no connection comes
    about, because one stood a moment ago."""
    if attempt >= len(_PAUSES):
        return None
    status = status_of(error)
    if status is None:
        return _PAUSES[attempt] if _broke(error, unreachable) else None
    if status not in _BUSY:
        return None
    seconds = retry_after(error)
    if seconds is None:
        return _PAUSES[attempt]
    return seconds if seconds <= LONGEST_WAIT else None


def rest_for(error: Exception, seconds: float, waiting: Callable[[str], None], tick: Callable[[], None]) -> None:
    if seconds >= 1 and (status := status_of(error)):
        waiting(f"Hugging Face is busy (status {status}). Trying again in {math.ceil(seconds)} s.")
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        tick()
        time.sleep(min(left, 0.1))
    waiting("")


def retry_after(error: BaseException) -> float | None:
    """Seconds that a refusal asks to wait: `Retry-After`, or the end of the hub's own limit."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    after = str(headers.get("Retry-After") or "").strip()
    if after.isdigit():
        return float(after)
    reset = _RESET.search(str(headers.get("RateLimit") or ""))
    return float(reset[1]) if reset else None


def status_of(error: BaseException) -> int | None:
    """The HTTP status of a refusal; None for another error."""
    return getattr(getattr(error, "response", None), "status_code", None)


def _broke(error: BaseException, unreachable: bool) -> bool:
    """By name: which library carries the bytes depends on the hub's version."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return bool(kinds & _BROKEN) and (unreachable or not kinds & _UNREACHABLE) and "UnsupportedProtocol" not in kinds


def _redirected(url: str, response: Any) -> str | None:
    location = response.headers.get("Location") if response.is_redirect else None
    return urljoin(url, location) if location else None


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port


# -- what goes wrong between Grus and the hub, as one plain sentence that says what to do

_NETWORK_LIBRARIES = {"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"}  # depends on the hub's version
_FULL = {errno.ENOSPC, errno.EDQUOT}
GIVE_TOKEN = ErrorText("give Grus a token of your account: `grus token set`, Settings in the window, or HF_TOKEN")


@contextmanager
def plainly(repo: str, revision: str) -> Iterator[None]:
    """What is raised inside leaves as one of Grus's own errors."""
    try:
        yield
    except GrusError:
        raise
    except Exception as error:
        raise explained(error, repo, revision) from error


def explained(error: BaseException, repo: str, revision: str) -> GrusError:
    """The most special error that fits; what is no known kind keeps its own words."""
    status = status_of(error)
    if status is None and isinstance(error, OSError) and error.errno is not None and not _is_network(error):
        return _of_disk(error, repo)
    errors = library.hub().errors
    if isinstance(error, errors.GatedRepoError):
        if _sent_token(error):
            return AccessRefused(
                ErrorText(
                    "{repo} is gated, and your token does not open it. Accept its terms on {site}/{repo} with the "
                    "same account, and wait until its makers have let you in.",
                    repo=repo,
                    site=library.endpoint(),
                )
            )
        return AccessRefused(
            ErrorText(
                "{repo} is gated. Accept its terms on {site}/{repo}, then {advice}.",
                repo=repo,
                site=library.endpoint(),
                advice=GIVE_TOKEN,
            )
        )
    if isinstance(error, errors.RepositoryNotFoundError):
        return ModelNotFound(
            ErrorText(
                "Hugging Face has no repository {repo}, or it is private. For a private one, {advice}.",
                repo=repo,
                advice=GIVE_TOKEN,
            )
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return ModelNotFound(ErrorText("{repo} has no revision {revision}.", repo=repo, revision=revision))
    if isinstance(error, errors.HFValidationError):
        return ModelNotFound(ErrorText("{repo} is not the id of a repository.", repo=repo))
    if status is not None:
        return _of_status(error, status, repo)
    if _is_network(error):
        return Offline(
            ErrorText("{repo} is not on this machine and Hugging Face cannot be reached. Check the network.", repo=repo)
        )
    if isinstance(error, ValueError):
        return Offline(
            ErrorText(
                "What answered is not Hugging Face. A sign-in page of this network, or a wrong HF_ENDPOINT, may "
                "stand in between."
            )
        )
    return GrusError(
        ErrorText(
            "{repo} could not be downloaded: {reason}",
            repo=repo,
            reason=str(error).strip().partition(chr(10))[0] or type(error).__name__,
        )
    )


def _of_status(error: BaseException, status: int, repo: str) -> GrusError:
    if status == 401 and _sent_token(error):
        return AccessRefused(
            ErrorText(
                "Hugging Face does not know your token (status 401). Make a new one on its page, then {advice}. "
                "`grus token remove` continues without one.",
                advice=GIVE_TOKEN,
            )
        )
    if status in (401, 403):
        return AccessRefused(
            ErrorText(
                "Hugging Face refused access to {repo} (status {status}). To be let in, {advice}.",
                repo=repo,
                status=status,
                advice=GIVE_TOKEN,
            )
        )
    return Offline(ErrorText("{repo} is not on this machine, and {reason}", repo=repo, reason=busy(error, status)))


def busy(error: BaseException, status: int) -> str:
    """What a refusal of every request says, as the end of a sentence."""
    if status != 429:
        return ErrorText("Hugging Face answered with status {status}. Try again later.", status=status)
    wait = retry_after(error)
    if not wait:
        return ErrorText("Hugging Face takes no more requests from here (status 429). Try again in some minutes.")
    return ErrorText(
        "Hugging Face takes no more requests from here (status 429). Try again in {n} s.", n=math.ceil(wait)
    )


def _of_disk(error: OSError, repo: str) -> GrusError:
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in _FULL:
        return DiskFull(
            ErrorText(
                "The disk is full, so {repo} could not be downloaded to its end{where}. What arrived is kept: "
                "make room, and download it again to continue.",
                repo=repo,
                where=where,
            )
        )
    if error.errno == errno.EFBIG:
        return DiskFull(
            ErrorText(
                "{repo} has a file that is larger than this disk or account may hold{where}.", repo=repo, where=where
            )
        )
    return GrusError(
        ErrorText("{repo} cannot be saved{where}: {reason}.", repo=repo, where=where, reason=error.strerror)
    )


def _sent_token(error: BaseException) -> bool:
    request = getattr(getattr(error, "response", None), "request", None)
    return request is not None and "authorization" in request.headers


def _is_network(error: BaseException | None) -> bool:
    while error is not None:
        module = type(error).__module__.partition(".")[0]
        if module in _NETWORK_LIBRARIES or isinstance(error, (ConnectionError, TimeoutError)):
            return True
        error = error.__cause__ or error.__context__
    return False
