"""The programs that compare kernels declare the functions that they call, as a C linker holds against nothing: they are as defined."""

from __future__ import annotations

import re
from pathlib import Path

from backends.torch.kernels.build import FOLDER

DEFINED = re.compile(r"^GRUS_API ([\w ]+?[ *]+)(grus_\w+)\(([^)]*)\)", re.MULTILINE)
DECLARED = re.compile(r"^(?:extern \"C\" )?(\w[\w ]*?[ *]+)(grus_\w+)\(([^)]*)\);$", re.MULTILINE)


def functions(pattern: re.Pattern[str], *files: Path) -> list[tuple[str, list[str]]]:
    """Name, and the types of the result and the arguments, of each; a pointer to data is `*`, whatever it points to."""
    found = []
    for result, name, arguments in pattern.findall("\n".join(file.read_text(encoding="utf-8") for file in files)):
        types = []
        for argument in [result, *arguments.split(",")]:
            words = argument.replace("const ", "").split()
            types.append("*" if "*" in argument else " ".join(words[:1]))
        found.append((name, types))
    return found


def test_each_function_is_declared_as_it_is_defined() -> None:
    defined = dict(functions(DEFINED, *FOLDER.rglob("*.cpp")))
    for program in Path(__file__).parent.glob("compare*.?pp"):
        for name, types in functions(DECLARED, program):
            assert types == defined[name], f"{program.name}: {name}"


def test_a_declaration_that_lacks_an_argument_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("GRUS_API int64_t grus_form(int64_t rows, const float* x, int32_t rounded) {}\n")
    (tmp_path / "b.cpp").write_text(
        "int64_t grus_form(int64_t, const float*);\nvoid grus_form(int64_t, const void*, int32_t);\n"
    )
    [(_, defined)] = functions(DEFINED, tmp_path / "a.cpp")
    assert defined == ["int64_t", "int64_t", "*", "int32_t"]
    assert [types for _, types in functions(DECLARED, tmp_path / "b.cpp")] == [defined[:-1], ["void", *defined[1:]]]
