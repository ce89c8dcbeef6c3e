"""The check that a bundle makes of itself: everything that Grus imports is there. Run here from source, in new processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from app.bundle_check import OPTIONAL, imports_of, is_optional, why_missing
from tests.asserting import every
from tests.needs import no_window
from tests.packaging.tools import ROOT, script

SPEC = (ROOT / "packaging" / "bundle" / "grus.spec").read_text(encoding="utf-8")


def checked(before: str = "") -> tuple[int, dict[str, Any]]:
    """The check in a new process, after the lines `before`."""
    code = f"import sys\n{before}\nfrom app.bundle_check import main\nsys.exit(main())"
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "GRUS_KERNELS": "off"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280
    )
    assert done.stdout.startswith("{"), done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[0])


@pytest.mark.skipif(bool(no_window()), reason=no_window() or "needs Qt")
@pytest.mark.slow
def test_everything_that_grus_imports_is_here() -> None:
    code, said = checked()
    assert said["missing"] == {}
    assert code == 0
    assert set(script("try_bundle").expected_modules()) <= set(said["modules"])


@pytest.mark.skipif(bool(no_window()), reason=no_window() or "needs Qt")
@pytest.mark.slow
def test_what_is_missing_is_named_wherever_it_is_imported() -> None:
    """An architecture in a table, a library that a function imports, a module that is started by its name as a process."""
    lost = ("engine.models.qwen3", "sounddevice", "engine.media.ffmpeg_child")
    code, said = checked(f"for name in {lost!r}: sys.modules[name] = None")
    assert code == 1
    assert {name.split(":")[0] for name in said["missing"]} >= set(lost)
    assert any(re.match(r"engine\.models\.qwen3:", name) for name in said["missing"])
    assert every("import of" in why or "No module named" in why for why in said["missing"].values()), said["missing"]


def test_imports_are_found_in_functions_and_in_strings() -> None:
    source = """
import os.path
from json import loads, dumps
def outer():
    import sounddevice as sd
    def inner():
        from email.utils import formatdate
        run("-m", "engine.media.ffmpeg_child", "engine.media is a package")
"""
    found = set(imports_of(compile(source, "x", "exec")))
    assert {
        "os.path",
        "json:loads",
        "json:dumps",
        "sounddevice",
        "email.utils:formatdate",
        "engine.media.ffmpeg_child",
    } <= found
    assert not any("package" in name for name in found)


def test_a_name_may_be_a_module_and_may_be_missing() -> None:
    assert why_missing("email:utils") == ""
    assert why_missing("json:loads") == ""
    assert "No module named 'json.nothing'" in why_missing("json:nothing")
    assert "No module named" in why_missing("no_such_package.part")


def test_what_may_be_missing_is_what_the_recipe_leaves_out() -> None:
    own = [name for name in OPTIONAL if name.startswith(("app.", "engine.", "backends."))]
    assert every(f'"{name}"' in SPEC for name in own)
    assert is_optional("transformers.models:x")
    assert not is_optional("transformers_more")
    assert not is_optional("backends.torch.trition")
    for name in ("transformers", "triton"):
        assert f'"{name}"' in SPEC
