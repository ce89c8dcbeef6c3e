"""Compiles the CPU kernels with the package. All else is in pyproject.toml.

Where no compiler is found, or it fails, the install goes on without them: torch alone then serves, and `grus info` says so.
"""

import sys
from pathlib import Path

from setuptools import Extension, setup

sys.path.insert(0, str(Path(__file__).parent))
from backends.torch.kernels import build

ROOT = Path(__file__).resolve().parent

setup(
    ext_modules=[
        Extension(
            f"backends.torch.kernels.{build.STEM}",
            sources=[str(source.relative_to(ROOT)) for source in build.sources()],
            depends=[str(path.relative_to(ROOT)) for path in build.files()],
            include_dirs=[str(build.FOLDER.relative_to(ROOT))],
            define_macros=[build.define()],
            extra_compile_args=build.flags(),
            extra_link_args=[] if sys.platform == "win32" else build.LINK,
            language="c++",
            optional=True,
        )
    ]
)
