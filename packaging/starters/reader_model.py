"""The Reader's network for training: PaddleOCR-VL's own arithmetic and parameter names on batches of equal width.

Two shortcuts make it fast on a CPU, and neither changes a result: the patch embedding reads one grey value where the
published layout reads a pixel repeated `stretch` times in three colours, and one mask serves a whole batch. `published`
writes the weights back in the published layout. The two heads at the end exist in training only."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from line_shards import COLUMN, RULES
from line_text import CHARACTERS
from torch import Tensor, nn

VISION = dict(width=192, inner=512, layers=6, heads=4)
TEXT = dict(width=192, inner=512, layers=3, heads=4, head=48, theta=100.0, sections=(2, 2, 20))
VISION_THETA = 10000.0
KNOTS = 24  # places along a strip that have a learned embedding; columns between them mix their neighbours'

# Token ids: specials, the fixed words of the prompt as one token each, then one token a character.
SPECIALS = ["<unk>", "<|begin_of_sentence|>", "</s>", "<|IMAGE_START|>", "<|IMAGE_END|>", "<|IMAGE_PLACEHOLDER|>"]
PHRASES = ["<|VIDEO_PLACEHOLDER|>", "User: ", "OCR:", "\nAssistant: ", "\nAssistant:\n", "\n"]
PAD, BOS, EOS, IMAGE_START, IMAGE_END, IMAGE = range(6)
FIRST = len(SPECIALS) + len(PHRASES)  # the token of character i is FIRST + i
VOCABULARY = 128
BEFORE = [BOS, len(SPECIALS) + 1, IMAGE_START]
AFTER = [IMAGE_END, len(SPECIALS) + 2, len(SPECIALS) + 3]

HEAD = VISION["width"] // VISION["heads"]


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def split_heads(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


class VisionAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        q = turned(split_heads(self.q_proj(x), self.heads), cos, sin)
        k = turned(split_heads(self.k_proj(x), self.heads), cos, sin)
        mixed = F.scaled_dot_product_attention(q, k, split_heads(self.v_proj(x), self.heads))
        return self.out_proj(mixed.transpose(1, 2).flatten(2))


class VisionMlp(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))


class VisionLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        width = VISION["width"]
        self.layer_norm1, self.layer_norm2 = (nn.LayerNorm(width, eps=1e-6) for _ in range(2))
        self.self_attn, self.mlp = VisionAttention(width, VISION["heads"]), VisionMlp(width, VISION["inner"])

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.self_attn(self.layer_norm1(x), cos, sin)
        return x + self.mlp(self.layer_norm2(x))


class TextAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        width, inner = TEXT["width"], TEXT["heads"] * TEXT["head"]
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, inner, bias=False) for _ in range(3))
        self.o_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, look: bool) -> tuple[Tensor, Tensor | None]:
        q = turned(split_heads(self.q_proj(x), TEXT["heads"]), cos, sin)
        k = turned(split_heads(self.k_proj(x), TEXT["heads"]), cos, sin)
        v = split_heads(self.v_proj(x), TEXT["heads"])
        scores = None
        if look:
            scores = q[:, 0] @ k[:, 0].transpose(1, 2) * TEXT["head"] ** -0.5
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(mixed.transpose(1, 2).flatten(2)), scores


class TextMlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        width, inner = TEXT["width"], TEXT["inner"]
        self.gate_proj, self.up_proj = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class TextLayer(nn.Module):
    def __init__(self, look: bool) -> None:
        super().__init__()
        width = TEXT["width"]
        self.input_layernorm, self.post_attention_layernorm = (nn.RMSNorm(width, eps=1e-5) for _ in range(2))
        self.self_attn, self.mlp, self.look = TextAttention(), TextMlp(), look

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor | None]:
        mixed, scores = self.self_attn(self.input_layernorm(x), cos, sin, self.look)
        x = x + mixed
        return x + self.mlp(self.post_attention_layernorm(x)), scores


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        wide, width = VISION["width"], TEXT["width"]
        self.embed = nn.Linear(RULES.height * COLUMN, wide)
        self.places = nn.Parameter(torch.zeros(KNOTS, wide))
        self.vision = nn.ModuleList(VisionLayer() for _ in range(VISION["layers"]))
        self.post_layernorm = nn.LayerNorm(wide, eps=1e-6)
        self.pre_norm = nn.LayerNorm(wide, eps=1e-5)
        self.linear_1, self.linear_2 = nn.Linear(wide, wide), nn.Linear(wide, width)
        self.embed_tokens = nn.Embedding(VOCABULARY, width)
        self.layers = nn.ModuleList(TextLayer(look=i > 0) for i in range(TEXT["layers"]))
        self.norm = nn.RMSNorm(width, eps=1e-5)
        self.lm_head = nn.Linear(width, VOCABULARY, bias=False)
        self.shows_head = nn.Linear(wide, len(CHARACTERS) + 1)
        self.middle_head = nn.Linear(wide, 3)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2 and name != "places":
                nn.init.normal_(parameter, std=0.02 if "embed_tokens" in name else parameter.shape[1] ** -0.5 * 0.7)
            if name.endswith(("out_proj.weight", "fc2.weight", "o_proj.weight", "down_proj.weight", "bias")):
                nn.init.zeros_(parameter)

    def see(self, pixels: Tensor, counted: int | None = None) -> Tensor:
        """Strips [n, height, columns * COLUMN], -1 black to 1 white, to features [n, columns, width].

        `counted`: how many columns the strips are taken to have, where some follow that are no part of them."""
        n, height, across = pixels.shape
        x = pixels.view(n, height, across // COLUMN, COLUMN).transpose(1, 2).flatten(2)
        within = counted or x.shape[1]
        along = F.interpolate(self.places.T[None], size=within, mode="linear", align_corners=False)[0].T
        x = self.embed(x) + along[torch.arange(x.shape[1], device=x.device).clamp(max=within - 1)]
        cos, sin = vision_rope(x.shape[1], x.device)
        for layer in self.vision:
            x = layer(x, cos, sin)
        return self.post_layernorm(x)

    def project(self, seen: Tensor) -> Tensor:
        return self.linear_2(F.gelu(self.linear_1(self.pre_norm(seen))))

    def speak(self, projected: Tensor, text: Tensor, counted: int | None = None) -> tuple[Tensor, list[Tensor]]:
        """Logits that follow the prompt and each of `text` [n, length], and where the looking heads look (scores)."""
        n, columns, _ = projected.shape
        before, after = (torch.tensor(ids, device=text.device).expand(n, -1) for ids in (BEFORE, AFTER))
        tail = self.embed_tokens(torch.cat((after, text), 1))
        x = torch.cat((self.embed_tokens(before), projected, tail), 1)
        cos, sin = text_rope(columns, tail.shape[1], counted or columns, x.device)
        start = len(BEFORE) + columns + len(AFTER) - 1
        looks = []
        for layer in self.layers:
            x, scores = layer(x, cos, sin)
            if scores is not None:
                looks.append(scores[:, start:, len(BEFORE) : len(BEFORE) + columns])
        return self.lm_head(self.norm(x[:, start:])), looks


def vision_rope(columns: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """One row of patches: the half of the frequencies that turns with the row stays still."""
    half = HEAD // 2
    speeds = 1.0 / VISION_THETA ** (torch.arange(0, half, 2, device=device) / half)
    across = torch.arange(columns, device=device)[:, None] * speeds
    angles = torch.cat((torch.zeros_like(across), across), -1)
    angles = torch.cat((angles, angles), -1)
    return angles.cos(), angles.sin()


def text_rope(columns: int, tail: int, counted: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Positions in time, row and column: image columns share the first two, text moves all three on together."""
    head = TEXT["head"]
    speeds = 1.0 / TEXT["theta"] ** (torch.arange(0, head, 2, device=device) / head)
    first = torch.arange(len(BEFORE), device=device)
    fixed = torch.full((columns,), len(BEFORE), device=device)
    last = torch.arange(tail, device=device) + len(BEFORE) + counted
    still = torch.cat((first, fixed, last))
    moving = torch.cat((first, fixed + torch.arange(columns, device=device), last))
    positions = [still, still, moving]
    parts = speeds.split(TEXT["sections"])
    angles = torch.cat([position[:, None] * part for position, part in zip(positions, parts, strict=True)], -1)
    angles = torch.cat((angles, angles), -1)
    return angles.cos(), angles.sin()


def published(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights under the published names and in the published shapes, without the training heads."""
    wide, patch = VISION["width"], RULES.height
    tower = "visual.vision_model."
    out: dict[str, Tensor] = {}
    for name, value in weights.items():
        head, _, rest = name.partition(".")
        if head in ("shows_head", "middle_head"):
            continue
        if name == "places":
            # The published grid is square; a strip is one row, so every row of the grid is the same.
            out[tower + "embeddings.position_embedding.weight"] = value.repeat(KNOTS, 1)
        elif name == "embed.weight":
            narrow = value.view(wide, 1, patch, COLUMN).repeat_interleave(RULES.stretch, 3) / (3 * RULES.stretch)
            out[tower + "embeddings.patch_embedding.weight"] = narrow.expand(-1, 3, -1, -1)
        elif name == "embed.bias":
            out[tower + "embeddings.patch_embedding.bias"] = value
        elif head == "vision":
            out[f"{tower}encoder.layers.{rest}"] = value
        elif head == "post_layernorm":
            out[tower + name] = value
        elif head in ("pre_norm", "linear_1", "linear_2"):
            out[f"mlp_AR.{name}"] = value
        elif head == "lm_head":
            out[name] = value
        else:
            out[f"model.{name}"] = value
    return {name: value.contiguous() for name, value in out.items()}
