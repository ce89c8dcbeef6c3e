"""Which backend a machine gets, and the one sentence for what it cannot have."""

from __future__ import annotations

import pytest

from backends import pick
from backends.base import BackendMissing


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """Pretend: which libraries are installed, and whether this is Apple Silicon."""

    def pretend(*libraries: str, apple: bool = False) -> None:
        monkeypatch.delenv(pick.SWITCH, raising=False)
        monkeypatch.setattr(pick, "installed", lambda name: name in libraries)
        monkeypatch.setattr(pick, "on_apple_silicon", lambda: apple)

    return pretend


def test_auto_is_torch_on_the_cpu_here(machine) -> None:
    machine("torch", "mlx")
    choice = pick.choose()
    assert (choice.backend, choice.device, choice.dtype) == ("torch", "cpu", "f32")


def test_auto_is_mlx_on_apple_silicon(machine) -> None:
    machine("torch", "mlx", apple=True)
    assert pick.choose().backend == "mlx"


def test_the_switch_sets_what_auto_means_and_nothing_else(machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine("torch", "mlx")
    for switch, means in (("mlx", "mlx"), ("torch", "torch"), ("auto", "torch"), ("", "torch")):
        monkeypatch.setenv("GRUS_BACKEND", switch)
        assert pick.choose().backend == means
    monkeypatch.setenv("GRUS_BACKEND", "mlx")
    assert pick.choose("torch").backend == "torch"
    assert "GRUS_BACKEND" in pick.choose().why
    with pytest.raises(BackendMissing, match="CUDA"):
        pick.choose(device="cuda")


def test_a_switch_that_names_no_backend_is_one_sentence(machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine("torch", "mlx")
    monkeypatch.setenv("GRUS_BACKEND", "jax")
    with pytest.raises(BackendMissing, match=r"GRUS_BACKEND is `jax`.*Set it to auto, mlx, torch, or unset it"):
        pick.choose()
    assert pick.choose("mlx").backend == "mlx"


def test_auto_takes_what_is_installed(machine) -> None:
    machine("mlx")
    assert pick.choose().backend == "mlx"


@pytest.mark.parametrize(
    ("libraries", "options", "said"),
    [
        ((), {}, "pip install torch==2.13.0"),
        (("torch",), {"backend": "mlx"}, "pip install"),
        (("mlx",), {"backend": "torch"}, "pip install torch==2.13.0"),
        (("torch", "mlx"), {"backend": "jax"}, "Choose one of: auto, mlx, torch"),
        (("torch", "mlx"), {"dtype": "int3"}, "Choose one of: auto, f32, f16, bf16"),
        (("torch", "mlx"), {"device": "npu"}, "Choose auto, cpu, cuda"),
        (("torch", "mlx"), {"backend": "mlx", "device": "cuda"}, "MLX does not run on CUDA"),
        (("torch", "mlx"), {"backend": "torch", "device": "metal"}, "torch does not run on Metal"),
        (("torch", "mlx"), {"device": "cuda:7"}, "CUDA"),
        (("torch", "mlx"), {"device": "metal"}, "no Metal device"),
    ],
)
def test_what_cannot_be_had_is_one_sentence_that_says_what_to_do(machine, libraries, options, said) -> None:
    machine(*libraries)
    with pytest.raises(BackendMissing) as caught:
        pick.choose(**options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_a_wish_for_a_dtype_is_kept(machine, dtype) -> None:
    machine("torch", "mlx")
    assert pick.choose(dtype=dtype).dtype == dtype
