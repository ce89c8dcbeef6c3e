"""Compiles the CPU kernels with the package. All else is in pyproject.toml.

Where no compiler is found, or it fails, the install goes on without them: torch alone then serves, and `grus info` says so.
`GRUS_WITHOUT_KERNELS=1` compiles nothing: packaging/wheels.py adds kernels of its own for each system.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).parent))
from backends.torch.kernels import build

ROOT = Path(__file__).resolve().parent

WINDOWS = sys.platform == "win32"


class ParallelBuild(build_ext):
    """Compiles as many files at a time as there are cores. setuptools takes one after the other, which is most of an install's time."""

    def build_extensions(self):
        if not WINDOWS:  # whose compiler is set up by its first call
            self.compiler.compile = partial(self._compile_all, self.compiler.compile)
        super().build_extensions()

    @staticmethod
    def _compile_all(compile_some, sources, *arguments, **options):
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            each = pool.map(lambda source: compile_some([source], *arguments, **options), sources)
            return [made for some in each for made in some]


class PlatformWheel(bdist_wheel):
    """A wheel for this system and every Python: the kernels are called through ctypes."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(
    cmdclass={"bdist_wheel": PlatformWheel, "build_ext": ParallelBuild},
    ext_modules=[]
    if os.environ.get("GRUS_WITHOUT_KERNELS")
    else [
        Extension(
            f"backends.torch.kernels.{build.STEM}",
            sources=[str(source.relative_to(ROOT)) for source in build.sources()],
            depends=["backends/torch/kernels/build.py", *(str(path.relative_to(ROOT)) for path in build.files())],
            include_dirs=[str(build.FOLDER.relative_to(ROOT))],
            define_macros=[build.define()],
            extra_compile_args=build.flags() if WINDOWS else [*build.flags(), "-g0"],
            extra_link_args=[] if WINDOWS else build.LINK,
            language="c++",
            optional=True,
        )
    ],
)
