"""What goes wrong between Grus and the hub, as one plain sentence that says what to do."""

from __future__ import annotations

import errno
import math
from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import AccessRefused, DiskFull, GrusError, ModelNotFound, Offline
from engine.hub import library
from engine.hub.client import status_of, told_to_wait

_NETWORK_LIBRARIES = {"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"}  # depends on the hub's version
_FULL = {errno.ENOSPC, errno.EDQUOT}
GIVE_TOKEN = "give Grus a token of your account: `grus token set`, Settings in the window, or HF_TOKEN"


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
                f"{repo} is gated, and your token does not open it. Accept its terms on {library.endpoint()}/{repo} with "
                "the same account, and wait until its makers have let you in."
            )
        return AccessRefused(f"{repo} is gated. Accept its terms on {library.endpoint()}/{repo}, then {GIVE_TOKEN}.")
    if isinstance(error, errors.RepositoryNotFoundError):
        return ModelNotFound(
            f"Hugging Face has no repository {repo}, or it is private. For a private one, {GIVE_TOKEN}."
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return ModelNotFound(f"{repo} has no revision {revision}.")
    if isinstance(error, errors.HFValidationError):
        return ModelNotFound(f"{repo} is not the id of a repository.")
    if status is not None:
        return _of_status(error, status, repo)
    if _is_network(error):
        return Offline(f"{repo} is not on this machine and Hugging Face cannot be reached. Check the network.")
    if isinstance(error, ValueError):
        return Offline(
            "What answered is not Hugging Face. A sign-in page of this network, or a wrong HF_ENDPOINT, may stand in between."
        )
    return GrusError(
        f"{repo} could not be downloaded: {str(error).strip().partition(chr(10))[0] or type(error).__name__}"
    )


def _of_status(error: BaseException, status: int, repo: str) -> GrusError:
    if status == 401 and _sent_token(error):
        return AccessRefused(
            "Hugging Face does not know your token (status 401). Make a new one on its page, then "
            f"{GIVE_TOKEN}. `grus token remove` continues without one."
        )
    if status in (401, 403):
        return AccessRefused(f"Hugging Face refused access to {repo} (status {status}). To be let in, {GIVE_TOKEN}.")
    return Offline(f"{repo} is not on this machine, and {busy(error, status)}")


def busy(error: BaseException, status: int) -> str:
    """What a refusal of every request says, as the end of a sentence."""
    if status != 429:
        return f"Hugging Face answered with status {status}. Try again later."
    wait = told_to_wait(error)
    when = f"in {math.ceil(wait)} s" if wait else "in some minutes"
    return f"Hugging Face takes no more requests from here (status 429). Try again {when}."


def _of_disk(error: OSError, repo: str) -> GrusError:
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in _FULL:
        return DiskFull(
            f"The disk is full, so {repo} could not be downloaded to its end{where}. What arrived is kept: make room, and "
            "download it again to continue."
        )
    if error.errno == errno.EFBIG:
        return DiskFull(f"{repo} has a file that is larger than this disk or account may hold{where}.")
    return GrusError(f"{repo} cannot be saved{where}: {error.strerror}.")


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
