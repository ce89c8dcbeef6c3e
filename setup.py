"""Compiles the CPU kernels with the package. All else is in pyproject.toml.

Where no compiler is found, or it fails, the install goes on without them: torch alone then serves, and `grus info` says so.
"""

import sys
from pathlib import Path

from setuptools import Extension, setup

sys.path.insert(0, str(Path(__file__).parent))
from backends.torch.kernels import recipe

ROOT = Path(__file__).resolve().parent

setup(
    ext_modules=[
        Extension(
            f"backends.torch.kernels.{recipe.STEM}",
            sources=[str(source.relative_to(ROOT)) for source in recipe.sources()],
            depends=[str(path.relative_to(ROOT)) for path in recipe.files()],
            include_dirs=[str(recipe.FOLDER.relative_to(ROOT))],
            define_macros=[recipe.define()],
            extra_compile_args=recipe.flags(),
            extra_link_args=[] if sys.platform == "win32" else recipe.LINK,
            language="c++",
            optional=True,
        )
    ]
)
