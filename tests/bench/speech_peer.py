"""The reference package beside us: qwen-tts at the same shape with random weights, in an environment of its own.

It needs an older transformers than the tests do, so `environment` puts both into a folder under `.grus-bench`, and this
file runs there as a program, `python speech_peer.py FOLDER DTYPE FRAMES`: for each line that it reads it speaks once, and
writes the seconds of work a second of sound.
"""

from __future__ import annotations

import importlib.machinery
import json
import os
import subprocess
import sys
import types
from pathlib import Path

PACKAGES = ("qwen-tts==0.1.1", "transformers==4.57.3", "huggingface-hub<1.0", "tokenizers>=0.22,<=0.23")
ABSENT = ("sox", "torchaudio", "torchaudio.compliance", "torchaudio.compliance.kaldi", "onnxruntime", "librosa",
          "librosa.filters", "einops")  # fmt: skip


def environment(kept: Path) -> Path:
    """A folder with the packages; torch and what else they share with us stays where it is."""
    folder = kept / "qwen-tts"
    if not (folder / "done").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps", "--target", str(folder)]
        subprocess.run([*pip, *PACKAGES], check=True)
        (folder / "done").touch()
    return folder


class Reference:
    """The package's own process, which is idle between two measurements."""

    def __init__(self, kept: Path, config: Path, dtype: str, frames: int) -> None:
        command = [sys.executable, __file__, str(config), dtype, str(frames)]
        self._child = subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": str(environment(kept))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def talker(self) -> float:
        """Seconds of work a second of sound: talker and predictor, without codec and prompt."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write("speak\n")
        self._child.stdin.flush()
        for line in self._child.stdout:
            if line.startswith("took "):
                return float(line.split()[1])
        raise RuntimeError(f"The reference's process ended: exit code {self._child.wait()}.")

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate()


def main(folder: Path, dtype: str, frames: int) -> None:
    for name in ABSENT:  # of other models in the package; their imports must only succeed
        module = types.ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        module.__path__ = []
        module.__dict__.update(mel=None, rearrange=None, repeat=None)
        sys.modules[name] = module
    import time

    import torch
    from qwen_tts.core.models import Qwen3TTSConfig, Qwen3TTSForConditionalGeneration

    config = json.loads((folder / "config.json").read_text())
    torch.set_default_dtype({"f32": torch.float32, "bf16": torch.bfloat16}[dtype])
    config["talker_config"].pop("model_type", None)
    model = Qwen3TTSForConditionalGeneration(Qwen3TTSConfig(**config)).eval()
    times: list[float] = []
    model.talker.codec_head.register_forward_hook(lambda *_: times.append(time.perf_counter()))
    ids = torch.arange(8, 40)[None]
    eos = config["talker_config"]["codec_eos_token_id"]
    for _ in sys.stdin:
        times.clear()
        with torch.inference_mode():
            model.generate(
                [ids], languages=["english"], speakers=["vivian"], max_new_tokens=frames + 2, eos_token_id=eos - 1024,
                non_streaming_mode=True,
            )  # fmt: skip
        print("took", (times[-1] - times[1]) / (len(times) - 2) / 0.08, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
