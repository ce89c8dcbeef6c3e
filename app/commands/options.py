"""Options that several commands share, and how they become what the engine understands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.option_values import SPECULATIONS, repetition, speculation
from app.runtime.reasoning import EFFORTS
from engine.errors import BadRequest
from engine.hub.download import TerminalBar
from engine.loading import PACKED_LIMIT, LoadOptions, device_list, packed_folder
from engine.starter import GUIDE, starter
from engine.types import SamplingParams, Settings


def add_model(command: argparse.ArgumentParser, default: str | None = None) -> None:
    """`default`: the model when none is named; without it, one must be."""
    about = (
        "a checkpoint's folder, a GGUF file, or a repository id such as Qwen/Qwen3-0.6B; of several GGUF files one is named "
        "by a part of its name, as in Qwen/Qwen3-0.6B-GGUF:Q8_0 or ./folder:q4_k"
    )
    if default is None:
        command.add_argument("model", metavar="MODEL", help=about)
    else:
        command.add_argument(
            "model", metavar="MODEL", nargs="?", default=default, help=f"{about} (default: {default}, which is in Grus)"
        )
    kind = command.add_argument_group("what the model is")
    kind.add_argument(
        "--model-type",
        default="auto",
        metavar="TYPE",
        help="load it as this architecture, where its config.json names none or a wrong one: qwen25, qwen3, qwen3_5, "
        "llama, hunyuan, ... (default: auto, as config.json says)",
    )
    kind.add_argument(
        "--format",
        choices=("auto", "safetensors", "gguf"),
        default="auto",
        help="which weights are loaded where a folder or a repository holds both (default: auto, which prefers safetensors; "
        "an MLX folder is safetensors)",
    )
    kind.add_argument(
        "--mmproj",
        default="auto",
        metavar="FILE",
        help="the mmproj file with the image encoder of a GGUF file; none: read text only (default: auto, one that fits and lies "
        "beside it)",
    )
    kind.add_argument(
        "--adapter",
        action="append",
        default=[],
        metavar="ADAPTER",
        help="a LoRA adapter that becomes part of the model: a folder of PEFT's or mlx-lm's, a GGUF file, or a repository id; may be "
        "repeated",
    )
    add_where(command)


def add_conversation(command: argparse.ArgumentParser) -> None:
    """What a command takes that asks a model for answers."""
    add_images(command)
    add_sounds(command)
    add_sampling(command)
    add_engine(command)
    add_profile(command)
    command.add_argument(
        "--hide-reasoning", action="store_true", help="print the answer alone, without the reasoning before it"
    )


def writable(path: Path) -> Path:
    """`path`, if a file can be made there: said before a model is loaded, not after an hour."""
    if not path.parent.is_dir():
        raise BadRequest(f"The folder {path.parent} does not exist.", "output")
    return path


def add_profile(command: Any) -> None:
    """`command`: a parser or a group of one."""
    command.add_argument(
        "--profile",
        type=Path,
        metavar="FILE",
        help="write a Chrome trace of queue, prefill, decode and waits to FILE; chrome://tracing and ui.perfetto.dev open it",
    )


def check_profile(path: Path | None) -> None:
    """A profile is written when all is over: what is wrong with its name is said before."""
    if path is not None and writable(path).is_dir():
        raise BadRequest(f"{path} is a folder. Name a file for the profile.", "profile")


def add_where(command: argparse.ArgumentParser) -> None:
    where = command.add_argument_group("where it runs")
    where.add_argument(
        "--backend", choices=("auto", "mlx", "torch"), default="auto", help="what computes (default: auto)"
    )
    where.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or metal (default: auto)")
    where.add_argument(
        "--tensor-parallel",
        type=int,
        default=1,
        metavar="N",
        help="split the model among N devices, which compute together (default: 1)",
    )
    where.add_argument(
        "--replicas",
        type=int,
        default=1,
        metavar="N",
        help="hold the model N times, each on a device and in a process of its own, for many requests at once (default: 1)",
    )
    where.add_argument(
        "--devices", metavar="DEVICES", help="these ones, with commas: cuda:0,cuda:1 (default: the first N)"
    )
    where.add_argument(
        "--gpu-layers",
        type=int,
        metavar="N",
        help="layers whose weights stay on the GPU, the others are computed by the CPU (default: as many as fit)",
    )
    where.add_argument(
        "--cpu-moe",
        type=int,
        metavar="N",
        help="layers whose experts are computed by the CPU (default: as few as needed)",
    )
    where.add_argument(
        "--dtype",
        choices=("auto", "f32", "f16", "bf16"),
        default="auto",
        help="what unquantized weights are computed in (default: bf16 on a GPU, f32 on a CPU)",
    )
    where.add_argument(
        "--quant",
        choices=("auto", "none", "q8_0", "q4_0", "q4_k", "q6_k"),
        default="auto",
        help="quantize plain weights while loading (default: auto, which on a CPU is q8_0 for 16-bit weights, and for encoders without --dtype)",
    )
    where.add_argument(
        "--kv-bits",
        type=int,
        choices=(32, 16, 8, 4),
        help="bits of a number in the conversation's memory: fewer take less of it and are a little less exact; 32: as computed "
        "(default: 16 with quantized weights on a CPU, else 32)",
    )
    where.add_argument(
        "--cache-dir", metavar="DIR", help="where downloaded models lie (default: the Hugging Face cache)"
    )
    where.add_argument(
        "--packed-limit",
        default=PACKED_LIMIT,
        metavar="SIZE",
        help="weights that had to be prepared for this CPU are kept on disk, so that the model opens at once the next time: at most SIZE of "
        "all models; 0 keeps none (default: 16G)",
    )
    where.add_argument("--offline", action="store_true", help="never download; use only what is on this machine")


def add_sampling(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("how it answers (defaults come from the model)")
    group.add_argument("--system", metavar="TEXT", help="a system prompt")
    group.add_argument("--max-tokens", type=int, metavar="N", help="stop after N tokens")
    group.add_argument("--temperature", type=float, metavar="T", help="0 always takes the likeliest token")
    group.add_argument(
        "--top-p", type=float, metavar="P", help="sample from the likeliest tokens that hold P of the mass"
    )
    group.add_argument("--top-k", type=int, metavar="K", help="sample from the K likeliest tokens")
    group.add_argument(
        "--min-p", type=float, metavar="P", help="leave out tokens less likely than P times the likeliest; 0 to 1"
    )
    group.add_argument(
        "--repetition-penalty",
        type=float,
        metavar="R",
        help="above 1 makes tokens that were there before less likely, 1 does nothing",
    )
    group.add_argument(
        "--repeat-last-n",
        type=int,
        metavar="N",
        help="the penalty looks back at N tokens; -1: at all of them, 0: at none, so that there is no penalty (default: -1)",
    )
    group.add_argument(
        "--stop",
        action="append",
        default=[],
        metavar="TEXT",
        help="end the answer before this text; may be repeated",
    )
    group.add_argument("--seed", type=int, metavar="S", help="the same seed gives the same answer")
    group.add_argument(
        "--reasoning-effort",
        choices=EFFORTS,
        help="how long a model that reasons should do so, in the words that its chat template knows; none: not at all",
    )
    group.add_argument(
        "--thinking-budget",
        type=int,
        metavar="N",
        help="end the reasoning after N tokens, and let the model answer; -1: no limit (default: -1)",
    )


def add_engine(command: argparse.ArgumentParser) -> None:
    """How the engine goes about it. Nothing here changes an answer."""
    group = command.add_argument_group("what makes it faster (the answer stays the same)")
    group.add_argument(
        "--speculation",
        choices=tuple(SPECULATIONS),
        help="check several next tokens in one step, which are guessed from what was said before (ngram; good for code and for "
        "texts that quote) or by what the model carries for multi-token prediction (mtp; Qwen3.5, Qwen3-Next, GLM 4.5 to 4.7, DeepSeek 3) (default: auto, which is "
        "mtp on a CPU with PyTorch and off elsewhere)",
    )
    group.add_argument(
        "--draft",
        metavar="MODEL",
        help="a small model of the same family that guesses the next tokens, such as Qwen/Qwen3-0.6B for Qwen/Qwen3-8B, or an EAGLE-3 head "
        "that was made for the model",
    )
    group.add_argument(
        "--battery-threads",
        type=int,
        metavar="N",
        help="threads that compute while the machine runs on its battery, which then lasts longer (default: as many as otherwise)",
    )
    group.add_argument(
        "--kv-offload-dir",
        type=Path,
        metavar="DIR",
        help="keep what was computed for prompts in this folder; a long prompt that begins alike is read from there the "
        "next time (at most 8 GB, least recently used go first)",
    )


def engine_settings(options: argparse.Namespace) -> Settings:
    """For one model and one person."""
    return Settings(
        speculation=speculation(options.speculation, options.draft),
        draft_model=options.draft,
        battery_threads=options.battery_threads,
        offload_folder=None if options.kv_offload_dir is None else options.kv_offload_dir.expanduser(),
    )


def add_images(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--image",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="an image that the model shall look at; may be repeated",
    )


def add_sounds(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--audio",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a sound that the model shall hear, such as a Gemma 4 E2B or a Voxtral; may be repeated",
    )


def say_notes(notes: Sequence[str]) -> None:
    """What of the images is lost, before the answer."""
    for note in notes:
        print(note, file=sys.stderr)


def load_options(options: argparse.Namespace) -> LoadOptions:
    return where_options(options, options.model)


def where_options(options: argparse.Namespace, label: str) -> LoadOptions:
    """`label` is said while a model is downloaded."""
    return LoadOptions(
        backend=options.backend,
        device=options.device,
        dtype=options.dtype,
        quant=_quant(options),
        kv_bits=options.kv_bits,
        tensor_parallel=options.tensor_parallel,
        replicas=options.replicas,
        devices=device_list(options.devices),
        gpu_layers=options.gpu_layers,
        cpu_moe=options.cpu_moe,
        cache_dir=options.cache_dir,
        packed_folder=str(packed_folder()),
        packed_limit=options.packed_limit,
        model_type=getattr(options, "model_type", "auto"),
        format=options.format if hasattr(options, "model_type") else "auto",
        mmproj=getattr(options, "mmproj", "auto"),
        download=not options.offline,
        progress=TerminalBar(label),
        merged=tuple(getattr(options, "adapter", ())),
    )


def sampling(options: argparse.Namespace, **more: Any) -> SamplingParams:
    penalty, window = repetition(options.repetition_penalty, options.repeat_last_n)
    params = SamplingParams(
        max_tokens=options.max_tokens,
        temperature=options.temperature,
        top_p=options.top_p,
        top_k=options.top_k,
        min_p=options.min_p,
        repetition_penalty=penalty,
        repetition_window=window,
        stop=tuple(options.stop),
        seed=options.seed,
        **more,
    )
    params.check()
    return params


def reasoning(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `grus.Model.prepare` about reasoning."""
    budget = options.thinking_budget
    if budget is not None and budget < -1:
        raise BadRequest(f"--thinking-budget must be at least -1, not {budget}.", "thinking_budget")
    return {"effort": options.reasoning_effort, "thinking_budget": None if budget == -1 else budget}


def say_quantized(quant: str | None, asked: str) -> None:
    """A choice that was made for the person is said, with how to unmake it; and so is one that changed nothing."""
    if quant is not None and asked == "auto":
        print(f"Weights are kept as {quant}, which is faster on a CPU. --quant none keeps them whole.", file=sys.stderr)
    if quant is None and asked not in ("auto", "none"):
        print(
            f"The weights are quantized already, so --quant {asked} changes nothing. "
            "grus convert makes a file that is quantized otherwise.",
            file=sys.stderr,
        )


def say_guide(model: str) -> None:
    """Say which model answers where none was named, and where others are."""
    if model == GUIDE:
        print(
            "The Guide speaks: a tiny model that comes with Grus and knows only Grus.\n"
            "Bigger models are on huggingface.co; name one to talk to it: grus chat Qwen/Qwen3-0.6B",
            file=sys.stderr,
        )


def _quant(options: argparse.Namespace) -> str:
    """A starter is so small that quantizing it saves nothing."""
    return (
        "none" if options.quant == "auto" and (options.model is None or starter(options.model)) else str(options.quant)
    )
