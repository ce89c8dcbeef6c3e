"""How a model of the hub is called: `owner/name`, with `@revision` and with `:QUANT` where a repository holds a model in
several quantizations, as in `Qwen/Qwen3-0.6B-GGUF:Q8_0`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.hub.cache import REPO_ID

_QUANT = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", re.ASCII)
_GGUF = re.compile(r"[-_.]GGUF$", re.IGNORECASE)


@dataclass(frozen=True)
class Named:
    repo: str
    revision: str | None = None
    quant: str | None = None

    @property
    def base(self) -> str | None:
        """The repository that a GGUF repository was made from, by its name; None for another one."""
        made_from = _GGUF.sub("", self.repo)
        return made_from if made_from != self.repo and REPO_ID.fullmatch(made_from) else None


def parse(name: str) -> Named | None:
    """None for what is no name of a repository. `:latest` is how some clients say that they choose none."""
    rest, colon, quant = name.partition(":")
    repo, at, revision = rest.partition("@")
    if not REPO_ID.fullmatch(repo) or (at and not revision) or (colon and not _QUANT.fullmatch(quant)):
        return None
    return Named(repo, revision or None, None if quant in ("", "latest") else quant)
