"""Trains the Reader from shards of strips, in pieces: stop it whenever you like, the next start resumes.

    python packaging/starters/line_shards.py WORK/shards            # renders; run it beside the training
    python packaging/starters/train_reader.py WORK                   # trains, with a checkpoint every few minutes

The encoder learns alone first, from what each column shows. Then the decoder joins; one of its heads is told where the
next character stands. The training ends after `--minutes` of all pieces together, or after `--steps`; towards the nearer of
the two the learning rate goes down."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from line_shards import BUCKETS, COLUMN, RULES
from line_text import CHARACTERS
from muon import Muon
from reader_model import EOS, FIRST, PAD, Reader
from torch import Tensor

SPOKEN = {24: 14, 48: 28, 72: 42, 96: 54, 116: 62}  # most characters of a bucket's lines that are trained on
AVERAGING = 0.998


def batches(
    folder: Path, start: int, seed: int, frames: int, newest: int
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """(shard number, rows) without end; shards are gone through in order, then again from `newest` before the end."""
    number = start
    while True:
        while not (folder / f"lines-{number:04}.npz").exists():
            if number == 0:
                time.sleep(2)
                continue
            number = max(0, number - newest)
        rng = np.random.default_rng((seed, number, start))
        arrays = np.load(folder / f"lines-{number:04}.npz")
        plan = []
        for bucket in BUCKETS:
            fit = np.flatnonzero((arrays[f"text{bucket}"] > 0).sum(1) <= SPOKEN[bucket])
            # Lines of nearly one width go together, a little shuffled: a batch counts as as wide as its widest line.
            widths = inked(arrays[f"pixels{bucket}"])
            fit = fit[np.argsort(widths[fit] + rng.uniform(0, 2, len(fit)))]
            size = max(1, frames // bucket)
            first = int(rng.integers(0, len(fit) % size + 1))
            plan += [(bucket, fit[i : i + size]) for i in range(first, len(fit) - size + 1, size)]
        rng.shuffle(plan)
        loaded = {name: arrays[name] for name in arrays.files}
        for bucket, rows in plan:
            names = ("pixels", "text", "shows", "middle", "places")
            yield number, {name: loaded[f"{name}{bucket}"][rows] for name in names}
        number += 1


def inked(pixels: np.ndarray) -> np.ndarray:
    """Of each strip, the columns up to the last that holds ink."""
    dark = pixels.min(axis=1) < 200
    return np.where(dark.any(1), -(-(dark.shape[1] - dark[:, ::-1].argmax(1)) // COLUMN), 1)


def as_tensors(rows: dict[str, np.ndarray], device: torch.device) -> dict[str, Tensor]:
    return {
        k: torch.from_numpy(v).to(device).to(torch.float32 if k == "pixels" else torch.int64) for k, v in rows.items()
    }


def scaled(pixels: Tensor) -> Tensor:
    return pixels / 127.5 - 1


def roughened(pixels: Tensor) -> Tensor:
    """A little more variety than was rendered: contrast, noise, and a row up or down."""
    n = len(pixels)
    pixels = 1 - (1 - pixels) * (torch.rand(n, 1, 1, device=pixels.device) * 0.35 + 0.65)
    pixels = pixels + torch.randn_like(pixels) * torch.rand(n, 1, 1, device=pixels.device) * 0.08
    return pixels.roll(int(torch.randint(-1, 2, ()).item()), 1) if torch.rand(()) < 0.4 else pixels


def misheard(tokens: Tensor) -> Tensor:
    """Some characters swapped for others, as they are when the decoder continues from its own mistakes."""
    wrong = torch.randint(FIRST, FIRST + len(CHARACTERS), tokens.shape, device=tokens.device)
    return torch.where(torch.rand(tokens.shape, device=tokens.device) < 0.04, wrong, tokens)


def losses(model: Reader, rows: dict[str, Tensor], speaking: bool) -> dict[str, Tensor]:
    pixels = scaled(rows["pixels"])
    bucket = pixels.shape[2] // COLUMN
    # Every width must be met, and shapes must be few: the columns behind the widest line are there, but not counted.
    counted = min(bucket, int(inked(rows["pixels"].numpy(force=True)).max()) + random.randint(0, 3))
    seen = model.see(roughened(pixels) if model.training else pixels, counted)
    shows, middle = model.shows_head(seen), model.middle_head(seen)
    out = {
        "shows": F.cross_entropy(shows.flatten(0, 1), rows["shows"].flatten()),
        "middle": F.cross_entropy(middle.flatten(0, 1), rows["middle"].flatten()),
    }
    out["right"] = (shows.argmax(-1) == rows["shows"])[rows["shows"] > 0].float().mean().detach()
    if speaking:
        most = SPOKEN[bucket]
        text = rows["text"][:, :most]
        there = text > 0
        tokens = torch.where(there, text - 1 + FIRST, PAD)
        logits, looks = model.speak(model.project(seen), misheard(tokens) if model.training else tokens, counted)
        lengths = there.sum(1)
        wanted = F.pad(tokens, (0, 1), value=PAD).scatter(1, lengths[:, None], EOS)
        said = torch.arange(most + 1, device=text.device) <= lengths[:, None]
        each = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none").view_as(wanted)
        out["speak"] = each[said].mean()
        out["said"] = (logits.argmax(-1) == wanted)[said].float().mean().detach()
        place = rows["places"][:, :most].unsqueeze(-1)
        for layer, scores in enumerate(looks, 1):
            spots = scores[:, :most].log_softmax(-1)
            last = spots.shape[-1] - 1
            near = torch.cat([spots.gather(2, (place + d).clamp(0, last)) for d in (-1, 0, 1)], -1).logsumexp(-1)
            out[f"look{layer}"] = -near[there].mean()
    return out


def rate(step: int, left: float, warm: int = 150) -> float:
    """Up in `warm` steps, then level until four fifths of the training are left, then straight down."""
    if step < warm:
        return (step + 1) / warm
    return min(1.0, max(0.02, left / 0.8))


def whitened(model: Reader, pixels: np.ndarray) -> None:
    """Starts the patch embedding from the directions in which columns of print differ, each as strong as the others."""
    slices = torch.from_numpy(pixels.reshape(len(pixels), RULES.height, -1, COLUMN)).float() / 127.5 - 1
    slices = slices.transpose(1, 2).flatten(2).flatten(0, 1)
    slices = slices - slices.mean(0)
    values, vectors = torch.linalg.eigh(slices.T @ slices / len(slices))
    gains = (values.clamp(min=0) + 0.01 * values[-1]).rsqrt()
    mixed = torch.linalg.qr(torch.randn(model.embed.weight.shape))[0]
    model.embed.weight.data = mixed @ (vectors * gains).T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--alone", type=int, default=350, help="steps of the encoder before the decoder joins")
    parser.add_argument("--minutes", type=float, default=85, help="of all pieces together")
    parser.add_argument("--keep-every", type=float, default=180, help="seconds from one checkpoint to the next")
    parser.add_argument("--report-every", type=int, default=25, help="steps from one line of progress to the next")
    parser.add_argument("--frames", type=int, default=2800, help="columns a batch")
    parser.add_argument("--rate", type=float, default=2.5e-3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--name", default="reader")
    parser.add_argument("--no-compile", action="store_true")
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(7)
    random.seed(7)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Reader().to(device)
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and n.split(".")[0] in ("vision", "layers")]
    chosen = {id(p) for p in (*matrices, model.places)}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    optimizers = [
        Muon(matrices, args.rate),
        torch.optim.AdamW(rest, args.rate, betas=(0.9, 0.98), weight_decay=0.01),
        torch.optim.AdamW([model.places], args.rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]
    checkpoint = args.work / f"{args.name}.pt"
    step, number, spent = 0, 0, 0.0  # seconds, of earlier pieces
    if checkpoint.exists():
        kept = torch.load(checkpoint, map_location=device)
        model.load_state_dict(kept["model"])
        average = kept["average"]
        for optimizer, state in zip(optimizers, kept["optimizers"], strict=True):
            optimizer.load_state_dict(state)
        step, number, spent = kept["step"], kept["shard"] + 1, kept["seconds"]
        print(f"going on from step {step}, after {spent / 60:.1f} minutes", flush=True)
    else:
        _, first = next(batches(args.work / "shards", 0, 7, args.frames, 0))
        whitened(model, first["pixels"])
        average = {name: value.detach().clone() for name, value in model.state_dict().items()}
    if not args.no_compile:
        torch._dynamo.config.cache_size_limit = 64
        for layer in (*model.vision, *model.layers):
            layer.compile(dynamic=False)

    def save() -> None:
        half = checkpoint.with_suffix(".part")
        states = [optimizer.state_dict() for optimizer in optimizers]
        seconds = spent + time.time() - began
        state = dict(
            model=model.state_dict(), average=average, optimizers=states, step=step, shard=number, seconds=seconds
        )
        torch.save(state, half)
        half.rename(checkpoint)

    began = saved = reported = time.time()
    running: dict[str, float] = {}
    for shard, rows in batches(args.work / "shards", number, 7, args.frames, newest=30):
        number = shard
        passed = max(step / args.steps, (spent + time.time() - began) / (args.minutes * 60))
        if passed >= 1:
            break
        model.train()
        speaking = step >= args.alone
        out = losses(model, as_tensors(rows, device), speaking)
        total = out["shows"] + 0.5 * out["middle"]
        if speaking:
            total = total + out["speak"] + 0.3 * (out["look1"] + out["look2"])
        total.backward()
        norm = torch.nn.utils.clip_grad_norm_(rest, 1.0)
        now = args.rate * rate(step, 1 - passed)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = now
            optimizer.step()
            optimizer.zero_grad()
        keep = min(AVERAGING, step / (step + 20))
        for name, value in model.state_dict().items():
            average[name].lerp_(value, 1 - keep)
        step += 1
        for name, value in out.items():
            value = float(value.detach())
            running[name] = running.get(name, value) * 0.95 + value * 0.05
        if step % args.report_every == 0:
            shown = " ".join(f"{name} {value:.3f}" for name, value in running.items())
            pace = (time.time() - reported) / args.report_every
            print(f"step {step}, {passed:.0%}: {shown} norm {norm:.2f} lr {now:.1e} {pace:.2f} s a step", flush=True)
            reported = time.time()
        if time.time() - saved > args.keep_every:
            save()
            saved = time.time()
    save()
    print(f"step {step}, after {(spent + time.time() - began) / 60:.1f} minutes: saved", flush=True)


if __name__ == "__main__":
    main()
