"""The tags in a vocabulary that say what a part of a page is: those of DocTags, and DeepSeek-OCR's. They are special tokens, and what the
model says: the text of a reply must keep them.
"""

from __future__ import annotations

import re
from collections.abc import Collection

DOCUMENT = "<doctag>"  # what a model has that writes DocTags
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9_+#.-]*>")
# those that Idefics 3 writes around pictures and at the end of what is said
_NOT_SAID = re.compile(
    r"<(?:end_of_utterance|fake_token_around_image|image|global-img|row_\d+_col_\d+|pad|unk|s)>|</s>"
)


def doctags_in(special: Collection[str]) -> set[str]:
    """Of these special tokens; none where a model writes no DocTags."""
    if DOCUMENT not in special:
        return set()
    return {token for token in special if _TAG.fullmatch(token) and not _NOT_SAID.fullmatch(token)}


GROUNDING = "<|grounding|>"  # what a prompt has where a model is to write places
_GROUNDED = ("<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>")


def places_in(special: Collection[str]) -> set[str]:
    """Of these special tokens those around the kind and the place of a part."""
    return {token for token in _GROUNDED if token in special} if GROUNDING in special else set()
