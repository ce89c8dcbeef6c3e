"""The tiny models in llama.cpp's own names and layouts (tests/llamacpp_files.py): llama.cpp opens them, and its greedy text is ours.

Needs `llama-cpp-python` (the `bench` extra). All in f32, so logits differ by the order of sums alone.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests import llamacpp_files
from tests.engine.weights.gguf.test_llamacpp import EXACT, agree

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("llama_cpp") is None, reason="llama-cpp-python is not installed (the extra `bench`)"
    ),
]


@pytest.mark.parametrize("name", llamacpp_files.FAMILIES)
def test_greedy_text_is_llamacpps(tmp_path: Path, name: str) -> None:
    agree(llamacpp_files.write(name, tmp_path / "m.gguf"), EXACT)
