"""`tekken.json`, the tokenizer of Mistral's repositories: bytes merged by the rank of what they make, behind control tokens.

The file lists more tokens than its model has: those beyond `default_vocab_size` are left out. Control tokens have the first ids.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, decoders, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend
from tokenizers.models import BPE

from engine.errors import TokenizerError
from engine.text.vocabulary import BYTE_OF_CHAR

FILE = "tekken.json"
NAMED = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
_OLDER = (  # control tokens of files that list none
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip


def read_tekken(file: Path) -> Backend:
    """The tokenizer in a file. A text begins with BOS."""
    try:
        held = json.loads(file.read_bytes())
        config = held["config"]
        control = _control(held.get("special_tokens"), int(config["default_num_special_tokens"]))
        ranks = _ranks(held["vocab"], int(config["default_vocab_size"]) - len(control))
        backend = _built(ranks, control, str(config["pattern"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise TokenizerError(f"{file} is not a tokenizer of Mistral's ({error}). Download it again.") from error
    except (OSError, ValueError, RecursionError) as error:  # JSON and base64 raise ValueError
        raise TokenizerError(f"{file} cannot be read as a tokenizer ({error}). Download it again.") from error
    except TokenizerError:
        raise
    except Exception as error:  # the library raises bare Exception for whatever it cannot build
        raise TokenizerError(f"The tokenizer in {file} cannot be built ({error}). Download it again.") from error
    return backend


def named_tokens(backend: Backend) -> dict[str, str]:
    """As tokenizer_config.json would name them."""
    return {name: token for name, token in NAMED.items() if backend.token_to_id(token) is not None}


def _control(listed: Any, count: int) -> list[str]:
    """Control tokens by id, those that have no name yet included."""
    entries = [(one["rank"], one["token_str"]) for one in listed] if listed is not None else list(enumerate(_OLDER))
    entries.sort()
    if [rank for rank, _ in entries] != list(range(len(entries))) or len(entries) > count:
        raise ValueError("its control tokens are not numbered from 0")
    return [str(token) for _, token in entries] + [f"<SPECIAL_{i}>" for i in range(len(entries), count)]


def _ranks(vocab: list[Mapping[str, Any]], count: int) -> dict[bytes, int]:
    if not 0 < count <= len(vocab):
        raise ValueError(f"it has {len(vocab)} tokens, and should have {count}")
    try:
        ranks = {base64.b64decode(one["token_bytes"], validate=True): rank for rank, one in enumerate(vocab[:count])}
    except binascii.Error as error:
        raise ValueError(f"a token is not valid base64: {error}") from error
    if len(ranks) < count:
        raise ValueError("a token comes twice")
    return ranks


def _built(ranks: Mapping[bytes, int], control: list[str], pattern: str) -> Backend:
    spelled = {byte: char for char, byte in BYTE_OF_CHAR.items()}
    names = {token: token.decode("latin-1").translate(spelled) for token in ranks}
    vocab = {name: len(control) + ranks[token] for token, name in names.items()}
    vocab |= {token: id for id, token in enumerate(control)}
    backend = Backend(BPE(vocab=vocab, merges=_merges(ranks, names), ignore_merges=True))
    words = pre_tokenizers.Split(Regex(pattern), behavior="isolated")
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in control])
    bos = NAMED["bos_token"]
    if bos in control:
        backend.post_processor = processors.TemplateProcessing(
            single=[bos, "$A"], special_tokens=[(bos, control.index(bos))]
        )
    return backend


def _merges(ranks: Mapping[bytes, int], names: Mapping[bytes, str]) -> list[tuple[str, str]]:
    """Every pair that makes a token, the tokens in the order of their ranks."""
    merges = []
    for token in ranks:
        pairs = [
            (ranks[left], ranks[right], names[left], names[right])
            for left, right in ((token[:cut], token[cut:]) for cut in range(1, len(token)))
            if left in ranks and right in ranks
        ]
        merges += [(left, right) for *_, left, right in sorted(pairs)]
    return merges
