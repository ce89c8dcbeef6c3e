"""Multi-token prediction on Qwen3.5-0.8B's shape, with weights that make a known share of the drafts right.

Layers add nothing to the residual stream, and the output matrix holds the embeddings in another order, so that every token has one
likeliest successor. The head sees the last token's embedding through a matrix: the identity and noise, as much of it as makes the
wanted share of its drafts right. All matrices are computed as those of a trained model are.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from engine.engine import Engine
from engine.loading import LoadedModel, LoadOptions, load
from engine.types import Request, SamplingParams, Settings
from tests.bench.table import Row, render
from tests.checkpoints import save_tokenizer

T = TypeVar("T")

SHARES = 0.0, 0.5, 0.7, 0.9
REPLY, PROMPT, ROUNDS, PROMPT_ROUNDS = 128, 512, 11, 20
FOLLOWING = 32000  # tokens that follow one another
H, LAYERS, FFN, VOCAB, HEADS, KV_HEADS, DIM = 1024, 24, 3584, 248320, 8, 2, 256
KEY_HEADS, VALUE_HEADS, LINEAR_DIM, KERNEL = 16, 16, 128, 4
CONFIG = {
    "model_type": "qwen3_5_text",
    "hidden_size": H,
    "num_hidden_layers": LAYERS,
    "intermediate_size": FFN,
    "vocab_size": VOCAB,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": DIM,
    "linear_num_key_heads": KEY_HEADS,
    "linear_num_value_heads": VALUE_HEADS,
    "linear_key_head_dim": LINEAR_DIM,
    "linear_value_head_dim": LINEAR_DIM,
    "linear_conv_kernel_dim": KERNEL,
    "full_attention_interval": 4,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 32768,
    "tie_word_embeddings": False,
    "hidden_act": "silu",
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25},
}
FC = "mtp.fc.weight"


def shapes() -> dict[str, tuple[int, ...]]:
    made: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (VOCAB, H), "lm_head.weight": (VOCAB, H)}
    made |= {"model.norm.weight": (H,), FC: (H, 2 * H), "mtp.norm.weight": (H,)}
    made |= {f"mtp.pre_fc_norm_{of}.weight": (H,) for of in ("embedding", "hidden")}
    values = VALUE_HEADS * LINEAR_DIM
    channels = 2 * KEY_HEADS * LINEAR_DIM + values
    for stem, full in [*((f"model.layers.{i}.", i % 4 == 3) for i in range(LAYERS)), ("mtp.layers.0.", True)]:
        made |= {f"{stem}{name}_layernorm.weight": (H,) for name in ("input", "post_attention")}
        made |= {f"{stem}mlp.{name}_proj.weight": (FFN, H) for name in ("gate", "up")}
        made[f"{stem}mlp.down_proj.weight"] = H, FFN
        if full:
            widths = {"q": 2 * HEADS * DIM, "k": KV_HEADS * DIM, "v": KV_HEADS * DIM}
            made |= {f"{stem}self_attn.{name}_proj.weight": (width, H) for name, width in widths.items()}
            made |= {f"{stem}self_attn.{name}_norm.weight": (DIM,) for name in ("q", "k")}
            made[f"{stem}self_attn.o_proj.weight"] = H, HEADS * DIM
        else:
            widths = {"qkv": channels, "z": values, "b": VALUE_HEADS, "a": VALUE_HEADS}
            made |= {f"{stem}linear_attn.in_proj_{name}.weight": (width, H) for name, width in widths.items()}
            made |= {f"{stem}linear_attn.{name}": (VALUE_HEADS,) for name in ("A_log", "dt_bias")}
            made[f"{stem}linear_attn.conv1d.weight"] = channels, 1, KERNEL
            made[f"{stem}linear_attn.norm.weight"] = (LINEAR_DIM,)
            made[f"{stem}linear_attn.out_proj.weight"] = H, values
    return made


def bf16(x: np.ndarray) -> np.ndarray:
    return (np.ascontiguousarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)


@dataclass
class Checkpoint:
    """A folder whose head can be made better or worse."""

    folder: Path
    place: int  # of the head's matrix in the file
    embedding: np.ndarray  # of the tokens that follow one another
    output: np.ndarray
    successors: np.ndarray

    def aim(self, share: float) -> None:
        """Give the head as much noise as makes this share of its drafts right."""
        random = np.random.default_rng(3)
        noise = random.standard_normal((H, H), np.float32) / H**0.5
        low, high = 0.0, 40.0
        for _ in range(12 if share else 0):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if self._right(np.eye(H, dtype=np.float32) + middle * noise) > share else (low, middle)
            )
        matrix = np.zeros((H, 2 * H), np.float32)
        matrix[:, :H] = np.eye(H) + low * noise if share else noise
        with (self.folder / "model.safetensors").open("r+b") as file:
            file.seek(self.place)
            file.write(bf16(matrix).tobytes())

    def _right(self, matrix: np.ndarray) -> float:
        some = np.random.default_rng(4).integers(0, FOLLOWING, 400)
        best = (self.embedding[some] @ matrix.T @ self.output.T).argmax(1)
        return float((best == self.successors[some]).mean())


def write(folder: Path) -> Checkpoint:
    random = np.random.default_rng(1)
    embedding = random.standard_normal((FOLLOWING, H), np.float32)
    order = random.permutation(FOLLOWING)
    successors = np.empty(FOLLOWING, np.int64)
    successors[order] = np.roll(order, -1)
    output = np.zeros((FOLLOWING, H), np.float32)
    output[successors] = embedding / np.linalg.norm(embedding, axis=1, keepdims=True)
    pattern = (0.02 * random.standard_normal(1 << 20)).astype(np.float32)
    header, at = {}, 0
    for name, shape in shapes().items():
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + 2 * int(np.prod(shape))]}
        at += 2 * int(np.prod(shape))
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    zeros = "o_proj.weight", "out_proj.weight", "down_proj.weight", "norm.weight"
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes().items():
            count = int(np.prod(shape))
            if name in ("model.embed_tokens.weight", "lm_head.weight"):
                known = bf16(embedding if name.startswith("model") else output)
                file.write(known.tobytes())
                count -= known.size
            if name.endswith(zeros) or "pre_fc_norm" in name or name == "lm_head.weight":
                file.write(bytes(2 * count))
            else:
                file.write(bf16(np.resize(pattern, count)).tobytes())
    (folder / "config.json").write_text(json.dumps(CONFIG))
    save_tokenizer(folder)
    place = 8 + len(text) + int(header[FC]["data_offsets"][0])  # type: ignore[index]
    return Checkpoint(folder, place, embedding, output, successors)


class Side:
    """One engine over a loaded model."""

    def __init__(self, loaded: LoadedModel, drafts: bool) -> None:
        self.engine = Engine(lambda _: loaded, Settings(speculation="mtp" if drafts else "off"), start=False)
        self.drafted = self.accepted = 0

    def reply(self, prompts: list[list[int]], length: int = REPLY) -> tuple[float, float, list[list[int]]]:
        """Seconds of a prompt and of a token, and the replies."""
        params = SamplingParams(temperature=0.0, max_tokens=length, ignore_eos=True)
        handles = [self.engine.submit(Request("m", prompt, params)) for prompt in prompts]
        while not self.engine.idle:
            self.engine.turn()
        results = [handle.result(0) for handle in handles]
        self.drafted = sum(result.timings.drafted for result in results)
        self.accepted = sum(result.timings.accepted for result in results)
        first = max(result.timings.first_token for result in results)
        total = max(result.timings.total for result in results)
        return first, (total - first) / (length - 1), [list(result.ids) for result in results]


def in_turn(i: int, first: T, second: T) -> tuple[T, T]:
    """Each begins every other round."""
    return (second, first) if i % 2 else (first, second)


def measured(folder: Path, share: float) -> list[Row]:
    loaded = load(str(folder), LoadOptions(backend="torch", device="cpu", dtype="f32", draft_head=True))
    plain, drafting = Side(loaded, False), Side(loaded, True)
    random = np.random.default_rng(7)
    rows = []
    for count in (1, 4):
        times: dict[Side, list[float]] = {plain: [], drafting: []}
        shares, length = [], REPLY // (1 if count == 1 else 2)
        for side in (plain, drafting):
            side.reply([random.integers(0, FOLLOWING, 16).tolist() for _ in range(count)])
        for i in range(ROUNDS):
            prompts = [random.integers(0, FOLLOWING, 16).tolist() for _ in range(count)]
            made = []
            for side in in_turn(i, plain, drafting):
                _, seconds, ids = side.reply(prompts, length)
                times[side].append(seconds)
                made.append(ids)
            assert made[0] == made[1], "drafts have changed a reply"
            shares.append(drafting.accepted / max(1, drafting.drafted))
        ratio = statistics.median(b / a for a, b in zip(times[drafting], times[plain]))
        found = f"{count} stream{'s' if count > 1 else ''}, head right {share:.0%} (accepted {statistics.median(shares):.0%})"
        own, peer = (count / statistics.median(times[side]) for side in (drafting, plain))
        rows.append(Row(found, "tokens/s", own, peer, "without", _aim(share, count), ratio_of_turns=ratio))
    if share == SHARES[0]:
        rows.append(_prompt_row(plain, drafting, random))
    plain.engine.close()
    return rows


def _aim(share: float, count: int) -> str:
    return ">= 0.98x" if not share else ">= 1.5x" if share == 0.7 and count == 1 else ""


def _prompt_row(plain: Side, drafting: Side, random: np.random.Generator) -> Row:
    pairs = []
    for i in range(PROMPT_ROUNDS):  # a prompt takes less than a second, in which memory changes
        prompt = random.integers(0, FOLLOWING, PROMPT).tolist()
        sides = in_turn(i, (plain, [*prompt[1:], 5]), (drafting, prompt))
        seconds = {side: side.reply([given], 2)[0] for side, given in sides}
        pairs.append((seconds[drafting], seconds[plain]))
    own, peer = (PROMPT / statistics.median(times) for times in zip(*pairs))
    ratio = statistics.median(b / a for a, b in pairs)
    return Row(f"prompt of {PROMPT} tokens", "tokens/s", own, peer, "without", ">= 0.98x", ratio_of_turns=ratio)


def rows() -> list[Row]:
    made: list[Row] = []
    with tempfile.TemporaryDirectory() as root:
        checkpoint = write(Path(root))
        for share in SHARES:
            checkpoint.aim(share)
            made += measured(checkpoint.folder, share)
            print(render(f"head right {share:.0%}", made[-3 if not share else -2 :]), file=sys.stderr, flush=True)
            gc.collect()
    return made
