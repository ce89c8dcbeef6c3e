"""A tiny random Kokoro, and what it says by torch's own layers: written from the description of its authors' torch code.

The names are those of the published file. `tests/engine/models/test_kokoro.py` holds both backends against `spoken`.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

Table = dict[str, tuple[int, ...]]

PHONEMES = '$;:,.!?—…"()“” ˈˌːabdefhijklmnopstuvwzəɪʊæðɛɡŋɔɑɹʃʌʒθTAIOWY'

# as hexgrad/Kokoro-82M has it, but for its vocabulary
PUBLISHED: dict[str, Any] = dict(
    istftnet=dict(
        upsample_kernel_sizes=[20, 12], upsample_rates=[10, 6], gen_istft_hop_size=5, gen_istft_n_fft=20,
        resblock_dilation_sizes=[[1, 3, 5], [1, 3, 5], [1, 3, 5]], resblock_kernel_sizes=[3, 7, 11],
        upsample_initial_channel=512,
    ),
    dim_in=64, dropout=0.2, hidden_dim=512, max_conv_dim=512, max_dur=50, multispeaker=True, n_layer=3, n_mels=80,
    n_token=178, style_dim=128, text_encoder_kernel_size=5,
    plbert=dict(
        hidden_size=768, num_attention_heads=12, intermediate_size=2048, max_position_embeddings=512,
        num_hidden_layers=12, dropout=0.1,
    ),
    vocab={sign: i for i, sign in enumerate(PHONEMES)},
)  # fmt: skip
TINY: dict[str, Any] = PUBLISHED | dict(
    istftnet=dict(
        upsample_kernel_sizes=[4, 6], upsample_rates=[2, 2], gen_istft_hop_size=5, gen_istft_n_fft=20,
        resblock_dilation_sizes=[[1, 3, 5], [1, 3, 5]], resblock_kernel_sizes=[3, 7], upsample_initial_channel=32,
    ),
    hidden_dim=32, style_dim=8, max_dur=6, n_token=len(PHONEMES),
    plbert=dict(
        hidden_size=48, num_attention_heads=4, intermediate_size=64, max_position_embeddings=64, num_hidden_layers=3,
        dropout=0.1,
    ),
)  # fmt: skip
_WIDE = {"published": (1024, 64), "tiny": (48, 8)}  # channels of the decoder, which no field says


def shapes(config: dict[str, Any], size: str) -> Table:
    """Every tensor of the published file."""
    hidden, style, tokens = config["hidden_dim"], config["style_dim"], config["n_token"]
    bert, net, half = config["plbert"], config["istftnet"], config["hidden_dim"] // 2
    wide, kept = _WIDE[size]
    made: Table = {}

    def linear(name: str, inp: int, out: int) -> None:
        made.update({f"{name}.weight": (out, inp), f"{name}.bias": (out,)})

    def norm(name: str, dim: int, parts: tuple[str, str] = ("weight", "bias")) -> None:
        made.update({f"{name}.{part}": (dim,) for part in parts})

    def conv(name: str, shape: tuple[int, ...], out: int, bias: bool = True) -> None:
        made.update({f"{name}.weight_g": (shape[0], 1, 1), f"{name}.weight_v": shape})
        made.update({f"{name}.bias": (out,)} if bias else {})

    def lstm(name: str, inp: int, out: int) -> None:
        for way in ("l0", "l0_reverse"):
            for part, shape in (("weight_ih", (2 * out, inp)), ("weight_hh", (2 * out, out // 2))):
                made[f"{name}.{part}_{way}"] = shape
            for part in ("bias_ih", "bias_hh"):
                made[f"{name}.{part}_{way}"] = (2 * out,)

    def block(name: str, inp: int, out: int, upsample: bool) -> None:
        conv(f"{name}.conv1", (out, inp, 3), out)
        conv(f"{name}.conv2", (out, out, 3), out)
        linear(f"{name}.norm1.fc", style, 2 * inp)
        linear(f"{name}.norm2.fc", style, 2 * out)
        if inp != out:
            conv(f"{name}.conv1x1", (out, inp, 1), out, bias=False)
        if upsample:
            conv(f"{name}.pool", (inp, 1, 3), inp)

    def snakes(name: str, dim: int, kernel: int) -> None:
        for i in range(3):
            for n in (1, 2):
                conv(f"{name}.convs{n}.{i}", (dim, dim, kernel), dim)
                linear(f"{name}.adain{n}.{i}.fc", style, 2 * dim)
                made[f"{name}.alpha{n}.{i}"] = (1, dim, 1)

    words = "bert.embeddings"
    made[f"{words}.word_embeddings.weight"] = (tokens, 128)
    made[f"{words}.position_embeddings.weight"] = (bert["max_position_embeddings"], 128)
    made[f"{words}.token_type_embeddings.weight"] = (2, 128)
    norm(f"{words}.LayerNorm", 128)
    width = bert["hidden_size"]
    linear("bert.encoder.embedding_hidden_mapping_in", 128, width)
    layer = "bert.encoder.albert_layer_groups.0.albert_layers.0"
    for name in ("query", "key", "value", "dense"):
        linear(f"{layer}.attention.{name}", width, width)
    norm(f"{layer}.attention.LayerNorm", width)
    linear(f"{layer}.ffn", width, bert["intermediate_size"])
    linear(f"{layer}.ffn_output", bert["intermediate_size"], width)
    norm(f"{layer}.full_layer_layer_norm", width)
    linear("bert.pooler", width, width)
    linear("bert_encoder", width, hidden)
    for i in range(config["n_layer"]):
        lstm(f"predictor.text_encoder.lstms.{2 * i}", hidden + style, hidden)
        linear(f"predictor.text_encoder.lstms.{2 * i + 1}.fc", style, 2 * hidden)
    lstm("predictor.lstm", hidden + style, hidden)
    linear("predictor.duration_proj.linear_layer", hidden, config["max_dur"])
    lstm("predictor.shared", hidden + style, hidden)
    for name in ("F0", "N"):
        for i, (inp, out) in enumerate(((hidden, hidden), (hidden, half), (half, half))):
            block(f"predictor.{name}.{i}", inp, out, i == 1)
        made.update({f"predictor.{name}_proj.weight": (1, half, 1), f"predictor.{name}_proj.bias": (1,)})
    made["text_encoder.embedding.weight"] = (tokens, hidden)
    for i in range(config["n_layer"]):
        conv(f"text_encoder.cnn.{i}.0", (hidden, hidden, config["text_encoder_kernel_size"]), hidden)
        norm(f"text_encoder.cnn.{i}.1", hidden, ("gamma", "beta"))
    lstm("text_encoder.lstm", hidden, hidden)
    block("decoder.encode", hidden + 2, wide, False)
    last = net["upsample_initial_channel"]
    for i in range(4):
        block(f"decoder.decode.{i}", wide + 2 + kept, last if i == 3 else wide, i == 3)
    for name in ("F0_conv", "N_conv"):
        conv(f"decoder.{name}", (1, 1, 3), 1)
    conv("decoder.asr_res.0", (kept, hidden, 1), kept)
    own, bins = "decoder.generator", net["gen_istft_n_fft"] + 2
    linear(f"{own}.m_source.l_linear", 9, 1)
    for i, kernel in enumerate(net["upsample_kernel_sizes"]):
        dim = last // 2 ** (i + 1)
        conv(f"{own}.ups.{i}", (2 * dim, dim, kernel), dim)
        step, end = math.prod(net["upsample_rates"][i + 1 :]), i + 1 == len(net["upsample_rates"])
        made[f"{own}.noise_convs.{i}.weight"] = (dim, bins, 1 if end else 2 * step)
        made[f"{own}.noise_convs.{i}.bias"] = (dim,)
        snakes(f"{own}.noise_res.{i}", dim, 11 if end else 7)
        for j, size_ in enumerate(net["resblock_kernel_sizes"]):
            snakes(f"{own}.resblocks.{i * len(net['resblock_kernel_sizes']) + j}", dim, size_)
    conv(f"{own}.conv_post", (bins, dim, 7), bins)
    return made


@cache
def tensors(seed: int = 0) -> dict[str, Tensor]:
    """Of the tiny one. Durations vary, and some frames have a pitch and others none."""
    made = scaled(shapes(TINY, "tiny"), seed)
    made["predictor.duration_proj.linear_layer.weight"] *= 6.0
    made["predictor.F0_proj.weight"] *= 40.0
    made["predictor.F0_proj.bias"] += 70.0
    return made


def scaled(table: Table, seed: int) -> dict[str, Tensor]:
    """Random numbers, of such sizes that sums stay about one."""
    generator = torch.Generator().manual_seed(seed)
    made = {}
    for name, shape in table.items():
        noise = torch.randn(shape, generator=generator)
        plain = len(shape) < 2 and not name.endswith("bias")  # of norms
        if name.endswith("weight_g"):
            noise = 1.0 + 0.1 * noise
        elif "alpha" in name or plain:
            noise = 1.0 + 0.2 * noise
        elif len(shape) > 1:
            spread = 1.0 if name.startswith("bert.emb") else 1.5 / math.sqrt(math.prod(shape[1:]))
            noise = noise * (0.3 * spread if ".fc." in name else spread)
        else:
            noise = 0.2 * noise
        made[name] = noise
    made["decoder.generator.conv_post.weight_g"] *= 0.05
    return made


def voice(seed: int = 0) -> np.ndarray:
    """A style for each number of phonemes."""
    random = np.random.default_rng(seed)
    return random.standard_normal((60, 1, 16)).astype(np.float32)


def save_kokoro(
    folder: Path, voices: tuple[str, ...] = ("af_heart", "am_adam", "bf_emma", "ff_siwis", "jf_alpha")
) -> Path:
    """As published: parts in a file of torch, each wrapped as for several devices, and a file for each voice."""
    (folder / "voices").mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(TINY, ensure_ascii=False))
    state: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors().items():
        part, _, rest = name.partition(".")
        state.setdefault(part, {})[f"module.{rest}"] = tensor
    torch.save(state, folder / "kokoro-v1_0.pth")
    for i, name in enumerate(voices):
        torch.save(torch.from_numpy(voice(i)), folder / "voices" / f"{name}.pt")
    return folder


class _Model:
    """The tensors behind a name, and the layers of them."""

    def __init__(self, state: dict[str, Tensor]) -> None:
        self.state = state

    def linear(self, name: str, x: Tensor) -> Tensor:
        return F.linear(x, self.state[f"{name}.weight"], self.state[f"{name}.bias"])

    def weight(self, name: str) -> Tensor:
        direction = self.state[f"{name}.weight_v"]
        return self.state[f"{name}.weight_g"] * direction / direction.flatten(1).norm(dim=1)[:, None, None]

    def conv(self, name: str, x: Tensor, **how: Any) -> Tensor:
        return F.conv1d(x, self.weight(name), self.state.get(f"{name}.bias"), **how)

    def lstm(self, name: str, x: Tensor) -> Tensor:
        """`[1, L, C]`"""
        weight = self.state[f"{name}.weight_ih_l0"]
        layer = torch.nn.LSTM(weight.shape[1], weight.shape[0] // 4, batch_first=True, bidirectional=True)
        own = {key.removeprefix(f"{name}."): value for key, value in self.state.items() if key.startswith(f"{name}.")}
        layer.load_state_dict(own)
        made: Tensor = layer(x)[0]
        return made

    def adain(self, name: str, x: Tensor, style: Tensor) -> Tensor:
        gain, shift = self.linear(f"{name}.fc", style)[:, :, None].chunk(2, 1)
        return (1 + gain) * F.instance_norm(x) + shift

    def block(self, name: str, x: Tensor, style: Tensor) -> Tensor:
        y = F.leaky_relu(self.adain(f"{name}.norm1", x, style), 0.2)
        if f"{name}.pool.weight_v" in self.state:
            y = F.conv_transpose1d(
                y, self.weight(f"{name}.pool"), self.state[f"{name}.pool.bias"], stride=2, padding=1, output_padding=1,
                groups=y.shape[1],
            )  # fmt: skip
            x = F.interpolate(x, scale_factor=2, mode="nearest")
        y = F.leaky_relu(self.adain(f"{name}.norm2", self.conv(f"{name}.conv1", y, padding=1), style), 0.2)
        if f"{name}.conv1x1.weight_v" in self.state:
            x = self.conv(f"{name}.conv1x1", x)
        return (self.conv(f"{name}.conv2", y, padding=1) + x) / math.sqrt(2)

    def snakes(self, name: str, x: Tensor, style: Tensor) -> Tensor:
        for i, dilation in enumerate((1, 3, 5)):
            y = x
            for n, reach in ((1, dilation), (2, 1)):
                y, rate = self.adain(f"{name}.adain{n}.{i}", y, style), self.state[f"{name}.alpha{n}.{i}"]
                y = y + torch.sin(rate * y) ** 2 / rate
                kernel = self.state[f"{name}.convs{n}.{i}.weight_v"].shape[2]
                y = self.conv(f"{name}.convs{n}.{i}", y, padding=(kernel - 1) * reach // 2, dilation=reach)
            x = x + y
        return x


@torch.no_grad()
def spoken(
    ids: list[int], style: np.ndarray, speed: float, noise: np.ndarray, phases: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """The stages of one passage. `noise [samples, 9]`: of the source, whose draws no two libraries share. `phases [frames, bins]`:
    an angle of half a turn may be written with either sign, which rounding decides; there the sign is the one in these."""
    import transformers

    m, config, net = _Model(tensors()), TINY, TINY["istftnet"]
    bert = transformers.AlbertModel(transformers.AlbertConfig(vocab_size=config["n_token"], **config["plbert"])).eval()
    bert.load_state_dict({key[5:]: value for key, value in m.state.items() if key.startswith("bert.")})
    given, own = torch.tensor([[0, *ids, 0]]), torch.from_numpy(style)[None]
    half = config["style_dim"]
    sound, prosody = own[:, :half], own[:, half:]
    read = m.linear("bert_encoder", bert(given).last_hidden_state)
    styles = prosody[:, None].expand(1, read.shape[1], half)
    x = torch.cat([read, styles], 2)
    for i in range(config["n_layer"]):
        x = m.lstm(f"predictor.text_encoder.lstms.{2 * i}", x)
        gain, shift = m.linear(f"predictor.text_encoder.lstms.{2 * i + 1}.fc", prosody)[:, None].chunk(2, 2)
        x = torch.cat([(1 + gain) * F.layer_norm(x, x.shape[-1:], eps=1e-5) + shift, styles], 2)
    lasts = m.linear("predictor.duration_proj.linear_layer", m.lstm("predictor.lstm", x))
    durations = torch.round(torch.sigmoid(lasts).sum(-1) / speed).clamp(min=1).long()[0]
    shared = m.lstm("predictor.shared", x.repeat_interleave(durations, 1)).transpose(1, 2)
    curves = []
    for name in ("F0", "N"):
        y = shared
        for i in range(3):
            y = m.block(f"predictor.{name}.{i}", y, prosody)
        y = F.conv1d(y, m.state[f"predictor.{name}_proj.weight"], m.state[f"predictor.{name}_proj.bias"])
        curves.append(y)
    text = F.embedding(given, m.state["text_encoder.embedding.weight"]).transpose(1, 2)
    for i in range(config["n_layer"]):
        text = m.conv(f"text_encoder.cnn.{i}.0", text, padding=2).transpose(1, 2)
        parts = (m.state[f"text_encoder.cnn.{i}.1.{part}"] for part in ("gamma", "beta"))
        text = F.leaky_relu(F.layer_norm(text, text.shape[-1:], *parts, 1e-5), 0.2).transpose(1, 2)
    text = m.lstm("text_encoder.lstm", text.transpose(1, 2)).repeat_interleave(durations, 1).transpose(1, 2)

    bent = [m.conv(f"decoder.{n}_conv", curve, stride=2, padding=1) for n, curve in zip(("F0", "N"), curves)]
    x = m.block("decoder.encode", torch.cat([text, *bent], 1), sound)
    kept = m.conv("decoder.asr_res.0", text)
    for i in range(4):
        x = m.block(f"decoder.decode.{i}", torch.cat([x, kept, *bent], 1), sound)
    samples = _generated(m, x, curves[0], sound, net, torch.from_numpy(noise), phases)
    return dict(
        durations=durations.numpy(), pitch=curves[0].flatten().numpy(), loudness=curves[1].flatten().numpy(),
        samples=samples.numpy(),
    )  # fmt: skip


def _generated(
    m: _Model, x: Tensor, pitch: Tensor, style: Tensor, net: dict[str, Any], noise: Tensor, phases: np.ndarray | None
) -> Tensor:
    own, size, hop = "decoder.generator", net["gen_istft_n_fft"], net["gen_istft_hop_size"]
    scale = math.prod(net["upsample_rates"]) * hop
    # in double precision: a phase is a sum over all frames, of which single precision loses digits that angles of quiet bins show
    every = F.interpolate(pitch, scale_factor=scale, mode="nearest").transpose(1, 2).double()  # [1, samples, 1]
    turns = (every * torch.arange(1, 10) / 24000 % 1).transpose(1, 2)
    phase = torch.cumsum(F.interpolate(turns, scale_factor=1 / scale, mode="linear"), 2) * 2 * torch.pi
    waves = torch.sin(F.interpolate(phase * scale, scale_factor=scale, mode="linear")).transpose(1, 2) * 0.1
    voiced = (every > 10).float()
    waves = waves.float() * voiced + (voiced * 0.003 + (1 - voiced) * 0.1 / 3) * noise[None]
    source = torch.tanh(m.linear(f"{own}.m_source.l_linear", waves))[..., 0]
    window = torch.hann_window(size, periodic=True)
    spectrum = torch.stft(source, size, hop, size, window=window, return_complex=True)
    angles = spectrum.angle()
    if phases is not None:
        theirs = torch.from_numpy(phases.T.copy())[None]
        angles = torch.where((theirs - angles).abs() > math.pi, theirs, angles)
    harmonics = torch.cat([spectrum.abs(), angles], 1)
    rates, count = net["upsample_rates"], len(net["resblock_kernel_sizes"])
    for i, (rate, kernel) in enumerate(zip(rates, net["upsample_kernel_sizes"])):
        end, step = i + 1 == len(rates), math.prod(rates[i + 1 :])
        heard = F.conv1d(
            harmonics, m.state[f"{own}.noise_convs.{i}.weight"], m.state[f"{own}.noise_convs.{i}.bias"],
            stride=1 if end else step, padding=0 if end else (step + 1) // 2,
        )  # fmt: skip
        heard = m.snakes(f"{own}.noise_res.{i}", heard, style)
        x = F.conv_transpose1d(
            F.leaky_relu(x, 0.1), m.weight(f"{own}.ups.{i}"), m.state[f"{own}.ups.{i}.bias"], stride=rate,
            padding=(kernel - rate) // 2,
        )  # fmt: skip
        x = (F.pad(x, (1, 0), mode="reflect") if end else x) + heard
        x = sum(m.snakes(f"{own}.resblocks.{i * count + j}", x, style) for j in range(count)) / count  # type: ignore[assignment]
    x = m.conv(f"{own}.conv_post", F.leaky_relu(x), padding=3)
    loud, angle = torch.exp(x[:, : size // 2 + 1]), torch.sin(x[:, size // 2 + 1 :])
    return torch.istft(loud * torch.exp(1j * angle), size, hop, size, window=window)[0]
