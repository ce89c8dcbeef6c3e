"""A tiny checkpoint made by hand that calls one tool and then answers, so that real agents finish their loops.

One layer of the Qwen3 architecture. After the start of a reply it writes `answer`; where tools are offered and none has
answered yet, a call instead; where a grammar allows neither, one of `objects`. Every reply is a chain: each piece of text
is a token, whose embedding is a dimension of its own that makes the next piece likeliest. Attention only finds out whether
the end of a list of tools, or of a tool's result, stands in the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from engine.text.builtin_templates import CHATML, QWEN3

ROOT = Path(__file__).resolve().parents[2]
ANSWER = "Done: the tool answered and all is well."
THOUGHTS = "The user wants an answer."
SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MARKS = (
    "\n\n",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "</tools>",
)

HIDDEN, HEAD, INNER = 192, 32, 64
# Dimensions of the hidden state. The two that attention writes are apart from the two that it reads.
DECIDES, OFFERED, ANSWERED, IS_TOOLS, IS_RESULT, ALWAYS, FIRST_LINK, NOISE = 0, 1, 2, 3, 4, 5, 6, 160
SURE = 6.0  # a logit, before the last norm multiplies it by about eight


@cache
def _base_tokenizer() -> str:
    """Byte-level BPE, learned from the docs: an agent's prompt of 100 kB is 25,000 tokens and not 100,000."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=4000, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train([str(page) for page in sorted((ROOT / "docs").glob("*.md"))], trainer)
    return str(tokenizer.to_str())


class ToolCallingModel:
    def __init__(
        self,
        tool: str = "get_weather",
        arguments: Mapping[str, Any] | None = None,
        *,
        answer: str = ANSWER,
        objects: Sequence[Mapping[str, Any]] = (),
        thinks: bool = False,
        context: int = 262_144,
    ) -> None:
        self.thinks, self.context = thinks, context
        self.tokenizer = Tokenizer.from_str(_base_tokenizer())
        self.tokenizer.add_special_tokens([AddedToken(text, special=True) for text in SPECIALS])
        self.tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in MARKS])
        call = {"name": tool, "arguments": {"city": "Paris"} if arguments is None else dict(arguments)}
        written = f"\n{json.dumps(call, ensure_ascii=False)}\n"
        self._chains = {"answer": self._pieces(answer), "call": self._pieces(written)}
        if thinks:
            self._chains["thoughts"] = self._pieces(f"\n{THOUGHTS}\n")
        wholes = (*objects, call, call["arguments"])
        self._wholes = [self._piece(json.dumps(whole, ensure_ascii=False)) for whole in wholes]
        size = self.tokenizer.get_vocab_size()
        self.embedding = np.zeros((size, HIDDEN), np.float32)
        self.embedding[:, NOISE:] = np.random.default_rng(0).normal(size=(size, HIDDEN - NOISE)) / 8
        self.embedding[:, ALWAYS] = 0.5
        self.head = np.zeros((size, HIDDEN), np.float32)
        self._links = FIRST_LINK
        self._write_replies()

    def _id(self, text: str) -> int:
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids
        assert len(ids) == 1, (text, ids)
        return int(ids[0])

    def _piece(self, text: str) -> int:
        self.tokenizer.add_tokens([AddedToken(text, special=False, normalized=False)])
        return int(self.tokenizer.token_to_id(text))

    def _pieces(self, text: str) -> list[int]:
        """Tokens that no other chain has: a piece that is a token already is made longer."""
        pieces, start = [], 0
        for end in (*range(7, len(text) - 6, 7), len(text)):
            if len(self.tokenizer.encode(text[start:end], add_special_tokens=False).ids) > 1:
                pieces.append(self._piece(text[start:end]))
                start = end
        assert start == len(text), f"the end of {text!r} is a token of another text"
        return pieces

    def _only(self, token: int, dimension: int) -> None:
        self.embedding[token] = 0
        self.embedding[token, dimension] = 1

    def _chain(self, *tokens: int) -> None:
        for before, after in pairwise(tokens):
            self._only(before, self._links)
            self.embedding[before, ALWAYS] = 0.5  # where a grammar forbids the next piece
            self.head[after, self._links] = 10 * SURE
            self._links += 1
        assert self._links <= NOISE

    def _write_replies(self) -> None:
        end, call = self._id("<|im_end|>"), self._id("<tool_call>")
        answer = self._chains["answer"]
        self._chain(*answer, end)
        self._chain(call, *self._chains["call"], self._id("</tool_call>"), end)
        for whole, sure in zip(self._wholes, (0.9, 0.8, 0.7)):
            self._chain(whole, end)
            self.head[whole, DECIDES] = sure * SURE
        starts = ["\n", "\n\n"]
        if self.thinks:
            starts = ["</think>", "\n\n"]
            self._chain(self._id("\n"), self._id("<think>"), *self._chains["thoughts"], self._id("</think>"))
        for start in starts:
            self._only(self._id(start), DECIDES)
        self._only(self._id("</tools>"), IS_TOOLS)
        self._only(self._id("</tool_response>"), IS_RESULT)
        self.head[answer[0], DECIDES] = 1.5 * SURE
        # after a tool's result a call is less likely than an object, where a grammar allows only these two
        self.head[call, [DECIDES, OFFERED, ANSWERED]] = 0.5 * SURE, 1.5 * SURE, -1.5 * SURE
        # where a grammar leaves the chains: a whole object if it may stand there, else texts end at once and lists close
        scripted = [token for chain in self._chains.values() for token in chain]
        self.head[[*scripted, *map(self._id, (*SPECIALS[:2], *MARKS[1:]))], ALWAYS] = -20
        for text, bias in (('"', 12), ("}", 8), ("]", 8), (",", 5), ("[", 3), ("{", 3), (":", 3), ("1", 2)):
            self.head[self._id(text), ALWAYS] = bias
        self.head[self._wholes, ALWAYS] = 9
        self.head[end, ALWAYS] = 8

    def weights(self) -> dict[str, np.ndarray]:
        query, key, value = (np.zeros((2 * HEAD, HIDDEN), np.float32) for _ in range(3))
        out = np.zeros((HIDDEN, 2 * HEAD), np.float32)
        slow = HEAD // 2 - 1  # the pair of dimensions that rotary embedding turns least
        for head, (read, write) in enumerate([(IS_TOOLS, OFFERED), (IS_RESULT, ANSWERED)]):
            query[head * HEAD + slow, :NOISE] = 1
            key[head * HEAD + slow, read] = 1
            value[head * HEAD, read] = 1 / np.sqrt(HIDDEN)  # undoes the norm
            out[write, head * HEAD] = 1
        layer = "model.layers.0"
        return {
            "model.embed_tokens.weight": self.embedding,
            "lm_head.weight": self.head,
            "model.norm.weight": np.ones(HIDDEN, np.float32),
            f"{layer}.input_layernorm.weight": np.ones(HIDDEN, np.float32),
            f"{layer}.post_attention_layernorm.weight": np.ones(HIDDEN, np.float32),
            f"{layer}.self_attn.q_proj.weight": query,
            f"{layer}.self_attn.k_proj.weight": key,
            f"{layer}.self_attn.v_proj.weight": value,
            f"{layer}.self_attn.o_proj.weight": out,
            f"{layer}.self_attn.q_norm.weight": np.full(HEAD, 7, np.float32),
            f"{layer}.self_attn.k_norm.weight": np.full(HEAD, 7, np.float32),
            f"{layer}.mlp.gate_proj.weight": np.zeros((INNER, HIDDEN), np.float32),
            f"{layer}.mlp.up_proj.weight": np.zeros((INNER, HIDDEN), np.float32),
            f"{layer}.mlp.down_proj.weight": np.zeros((HIDDEN, INNER), np.float32),
        }

    def config(self) -> dict[str, Any]:
        return dict(
            architectures=["Qwen3ForCausalLM"],
            model_type="qwen3",
            vocab_size=len(self.embedding),
            hidden_size=HIDDEN,
            intermediate_size=INNER,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            head_dim=HEAD,
            max_position_embeddings=self.context,
            rope_theta=1e12,
            rms_norm_eps=1e-6,
            tie_word_embeddings=False,
            eos_token_id=self._id("<|im_end|>"),
            torch_dtype="float32",
        )

    def save(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.weights(), folder / "model.safetensors", metadata={"format": "pt"})
        self.tokenizer.save(str(folder / "tokenizer.json"))
        template = QWEN3 if self.thinks else CHATML
        named = dict(tokenizer_class="Qwen2Tokenizer", eos_token="<|im_end|>", chat_template=template)
        for name, data in (("config.json", self.config()), ("tokenizer_config.json", named)):
            (folder / name).write_text(json.dumps(data), encoding="utf-8")
        return folder
