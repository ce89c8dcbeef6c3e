"""Packed weights that are kept on disk: they give what packing gives, and only for what they were made from."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from backends.base import Segment
from backends.packed_file import PART
from backends.torch.kernels import arena, packed_store
from backends.torch.kernels.packed import PackedMatrix
from engine import packed_weights
from engine.errors import BadRequest
from engine.loading import LoadedModel, LoadOptions, load, load_any, packed_folder
from engine.packed_weights import SUFFIX, UNUSED, make_room
from engine.weights.convert import convert
from tests.app.fresh import grus
from tests.app.server.test_serve_options import reply, served
from tests.checkpoints import save
from tests.encoder_checkpoints import save as save_encoder
from tests.engine.weights.test_packed_fuzz import KINDS, made
from tests.prediction_heads import save_with_head

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64, 128, 254, 1, 2, 90, 77, 12, 180]
Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_store, "LEAST", 1)


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of each matrix that is packed."""
    packed: list[int] = []
    fill = PackedMatrix.fill

    def noted(matrix: PackedMatrix, *given: Any, **more: Any) -> None:
        packed.append(matrix.nbytes)
        fill(matrix, *given, **more)

    monkeypatch.setattr(PackedMatrix, "fill", noted)
    return packed


def options(folder: Path, **more: Any) -> LoadOptions:
    return LoadOptions(backend="torch", device="cpu", packed_folder=str(folder), memory_limit=1 << 30, **more)


def logits(loaded: LoadedModel) -> np.ndarray:
    slot = loaded.kv.open(len(PROMPT))
    assert slot is not None
    found = loaded.runner.run([Segment(slot, PROMPT, want=range(len(PROMPT)))]).read()[slot].logits
    loaded.kv.close(slot)
    return np.asarray(found)


def kept(folder: Path) -> list[Path]:
    assert not list(folder.glob(f"*{PART}"))
    return sorted(folder.glob(f"*{SUFFIX}"))


def kept_or_written(folder: Path) -> list[Path]:
    return [] if list(folder.glob(f"*{PART}")) else kept(folder)


def names(folder: Path) -> list[str]:
    """Of the models."""
    return sorted(path.name.split("-")[-2] for path in folder.glob(f"*{SUFFIX}"))


def loaded_once(model: Path, folder: Path, **more: Any) -> np.ndarray:
    """What it gives, when nothing is left to do in the background."""
    loaded = load(str(model), options(folder, **more))
    arena.wait()
    found = logits(loaded)
    loaded.close()
    return found


def bf16(folder: Path) -> Path:
    return save("qwen3", folder, dtype="bfloat16")


def mixture(folder: Path) -> Path:
    return convert(save("qwen3_5_moe", folder), folder / "m.gguf", quant="q4_k")


MODELS: dict[str, Callable[[Path], Path]] = {
    "bf16, quantized": bf16,
    "a mixture's gates and ups": mixture,
    "experts of their own": lambda folder: save("qwen3_moe", folder, dtype="bfloat16"),
    **{kind: lambda folder, kind=kind: made(kind, folder) for kind in KINDS},  # type: ignore[misc]
}


@pytest.mark.parametrize("kind", MODELS)
def test_what_is_kept_gives_what_packing_gives(kind: str, tmp_path: Path, filled: list[int]) -> None:
    (tmp_path / "m").mkdir()
    model, folder = MODELS[kind](tmp_path / "m"), tmp_path / "packed"
    want = loaded_once(model, folder)
    (file,) = kept(folder)
    assert filled
    before = file.stat()
    filled.clear()
    loaded = load(str(model), options(folder))
    assert not filled, "nothing is packed again"
    mapped = logits(loaded)  # most likely before it is copied
    arena.wait()
    assert np.array_equal(mapped, want)
    assert np.array_equal(logits(loaded), want)
    assert file.stat().st_ino == before.st_ino, "nor written"
    loaded.close()


def test_a_file_of_blocks_is_used_as_it_lies_and_nothing_is_kept(tmp_path: Path) -> None:
    file = convert(save("qwen3", tmp_path / "m"), tmp_path / "m.gguf", quant="q8_0")
    loaded_once(file, tmp_path / "packed")
    assert kept(tmp_path / "packed") == []


def test_an_encoder_is_kept_too(tmp_path: Path, filled: list[int]) -> None:
    save_encoder("bert", tmp_path / "m")
    for _ in range(2):
        loaded = load_any(str(tmp_path / "m"), options(tmp_path / "packed", quant="q8_0"))
        arena.wait()
        filled.append(0)
        loaded.close()
    first = filled.index(0)
    assert first > 0
    assert filled[first:] == [0, 0], "the second time nothing is packed"


def test_other_weights_are_packed_anew_and_what_was_kept_of_the_old_ones_goes(tmp_path: Path) -> None:
    model, folder = bf16(tmp_path / "m"), tmp_path / "packed"
    old = loaded_once(model, folder)
    (first,) = kept(folder)
    weights = model / "model.safetensors"
    changed = {name: tensor * 2 if "q_proj" in name else tensor for name, tensor in load_file(weights).items()}
    save_file(changed, weights)
    new = loaded_once(model, folder)
    assert not np.array_equal(new, old)
    assert np.array_equal(new, loaded_once(model, tmp_path / "other"))
    assert first not in kept(folder)
    assert len(kept(folder)) == 1
    shutil.rmtree(model)
    loaded_once(bf16(tmp_path / "another"), folder)
    assert len(kept(folder)) == 1, "what was made of a deleted model goes"


def test_what_decides_how_weights_are_packed_is_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, folder = bf16(tmp_path / "m"), tmp_path / "packed"
    want = {quant: loaded_once(model, tmp_path / "none yet", quant=quant) for quant in ("q8_0", "q4_0")}
    for quant in ("q8_0", "q4_0", "q8_0"):
        assert np.array_equal(loaded_once(model, folder, quant=quant), want[quant])
    assert len(kept(folder)) == 2
    monkeypatch.setattr(packed_weights, "_code", lambda: "another version that reads files")
    loaded_once(model, folder, quant="q8_0")
    assert len(kept(folder)) == 3
    monkeypatch.setattr(packed_store, "_code", lambda: "another version of the kernels")
    before = [path.stat().st_ino for path in kept(folder)]
    loaded_once(model, folder, quant="q8_0")
    assert [path.stat().st_ino for path in kept(folder)] != before, "written anew"


@pytest.mark.parametrize("damage", ["cut short", "no header", "nothing", "another file", "half a header", "odd header"])
def test_a_damaged_file_is_not_used(damage: str, tmp_path: Path, filled: list[int]) -> None:
    model, folder = bf16(tmp_path / "m"), tmp_path / "packed"
    want = loaded_once(model, folder)
    (file,) = kept(folder)
    whole = file.read_bytes()
    length = int.from_bytes(whole[8:16], "little")
    damaged = {
        "cut short": whole[:-1],
        "no header": whole[:8] + (1 << 62).to_bytes(8, "little") + whole[16:],
        "nothing": b"",
        "another file": b"GGUF" + whole[4:],
        "half a header": whole[: 16 + length // 2],
        "odd header": whole.replace(b'"matrices": [[', b'"matrices": [5,[', 1),
    }
    file.write_bytes(damaged[damage])
    filled.clear()
    assert np.array_equal(loaded_once(model, folder), want)
    assert filled
    assert kept(folder)[0].read_bytes() == whole, "and takes its place again"


def test_what_a_file_lacks_is_packed_and_joins_it(tmp_path: Path, filled: list[int]) -> None:
    """The head for multi-token prediction is loaded in one load, and not in another."""
    model, folder = tmp_path / "m", tmp_path / "packed"
    save_with_head("qwen3_5", model)
    loaded_once(model, folder, draft_head=False, quant="q8_0")
    (small,) = kept(folder)
    size, packed = small.stat().st_size, len(filled)
    loaded_once(model, folder, draft_head=True, quant="q8_0")
    (whole,) = kept(folder)
    assert whole.stat().st_size > size
    assert packed < len(filled) < 2 * packed, "of the model nothing was packed again"
    filled.clear()
    for head in (True, False):
        loaded_once(model, folder, draft_head=head, quant="q8_0")
    assert not filled
    assert kept(folder) == [whole]


def test_room_is_made_for_what_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, models = tmp_path / "packed", [bf16(tmp_path / name) for name in "abc"]
    loaded_once(models[0], folder)
    size = kept(folder)[0].stat().st_size
    two = str(2 * size + size // 2)
    for model in (models[1], models[0], models[2]):  # the second is the one that was not used for longest
        time.sleep(0.02)
        loaded_once(model, folder, packed_limit=two)
    assert names(folder) == ["a", "c"]
    old, left = kept(folder)[0], folder / f"left{PART}"
    left.touch()
    for path, age in ((left, 2 * 3600), (old, UNUSED + 60)):
        os.utime(path, (time.time() - age, time.time() - age))
    assert make_room(folder, 1 << 30, 1)
    assert not left.exists()
    assert names(folder) == ["c"], "the other one was not used for a month"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 1 << 40, 1 << 30))
    assert not make_room(folder, 1 << 40, 1), "five gigabytes stay free"
    assert names(folder) == ["c"], "and nothing goes where that would not help"


def test_what_is_larger_than_the_limit_pushes_nothing_out(tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    loaded_once(bf16(tmp_path / "a"), folder)
    before = kept(folder)
    assert not make_room(folder, 1 << 20, 2 << 20)
    assert kept(folder) == before


def test_nothing_is_kept_where_nothing_may_be(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = bf16(tmp_path / "m")
    loaded_once(model, tmp_path / "packed", packed_limit="0")
    assert not (tmp_path / "packed").exists()
    (tmp_path / "file").write_text("")
    loaded_once(model, tmp_path / "file")
    assert "Packed weights cannot be kept" in caplog.text
    with pytest.raises(BadRequest):
        options(tmp_path, packed_limit="much")


def test_a_full_disk_and_a_model_that_goes_leave_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model, folder = bf16(tmp_path / "m"), tmp_path / "packed"
    for name, broken in (("fsync", OSError(28, "No space left on device")), ("ending", True)):

        def fails(*_: object, broken: Any = broken) -> Any:
            if isinstance(broken, Exception):
                raise broken
            return broken

        with monkeypatch.context() as patch:
            patch.setattr(*((os, "fsync") if name == "fsync" else (arena, "ending")), fails)
            loaded_once(model, folder)
        assert list(folder.iterdir()) == []
    assert "No space left on device" in caplog.text
    monkeypatch.setattr(arena, "QUIET", 2.0)
    loaded = load(str(model), options(folder))
    release = loaded.backend.release
    loaded.close()
    del loaded
    release()  # as the engine does, when it unloads a model
    arena.wait()
    assert kept(folder) == []


def test_a_server_keeps_what_it_packed_and_a_command_uses_it(tmp_path: Path) -> None:
    """In new processes, with a model as large as it must be to be kept."""
    wide = dict(hidden_size=512, num_attention_heads=8, num_key_value_heads=2, vocab_size=40_000)
    model = save("qwen3", tmp_path / "m", dtype="bfloat16", **wide)
    cache = tmp_path / "cache"
    with served("--backend", "torch", "--model", f"tiny={model}", XDG_CACHE_HOME=str(cache)) as client:
        reply(client)
        for _ in range(200):
            if files := kept_or_written(cache / "Grus" / "packed"):
                break
            time.sleep(0.1)
    (file,) = files
    run = ["run", model, "the cat", "--raw", "--json", "--max-tokens", "20", "--temperature", "0", "--device", "cpu"]
    found = []
    for more in ([], ["--packed-limit", "0"], ["--backend", "mlx"]):
        before = file.stat()
        outcome = grus(*run, *more, XDG_CACHE_HOME=str(cache))
        assert outcome.code == 0, outcome.err
        used = file.stat().st_mtime_ns > before.st_mtime_ns
        found.append((used, json.loads(outcome.out)["output_ids"]))
        assert (file.stat().st_ino, kept(file.parent)) == (before.st_ino, [file]), "not written again"
    assert [used for used, _ in found] == [True, False, False]
    assert found[0][1] == found[1][1]
    wrong = grus(*run, "--packed-limit", "much", XDG_CACHE_HOME=str(cache))
    assert wrong.code == 2
    assert "Traceback" not in wrong.err


def test_each_rank_keeps_its_own_part(tmp_path: Path) -> None:
    """The second one in a process of its own, where nothing but the model's matrices is held."""
    wide = dict(hidden_size=256, num_attention_heads=8, num_key_value_heads=2, vocab_size=270_000)
    model, folder = str(save("qwen3", tmp_path / "m", dtype="bfloat16", **wide)), tmp_path / "packed"
    found = []
    for _ in range(2):
        loaded = load(model, options(folder, tensor_parallel=2))
        found.append(logits(loaded))
        for _ in range(200):
            if len(files := kept_or_written(folder)) == 2:
                break
            time.sleep(0.1)
        loaded.close()
        found.append([file.stat().st_ino for file in files])
    assert len(files) == 2
    assert np.array_equal(found[0], found[2])
    assert found[1] == found[3]


def test_the_folder_is_the_systems_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert packed_folder().name == "packed"
    assert "Grus" in packed_folder().parts
