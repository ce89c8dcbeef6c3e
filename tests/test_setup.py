"""packaging/setup.sh on a machine made of stand-ins: nothing is installed, every call of Python and of sudo is noted."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ["bash", "cat", "cmp", "cp", "dirname", "head", "mkdir", "rm", "sed"]
FILES = [
    "pyproject.toml",
    *(f"packaging/{name}" for name in ("setup.sh", "system.txt", "constraints.txt", "versions.py")),
]

PYTHON = """#!/bin/bash
echo "$@" >>"$CALLS"
case "$*" in
  *"-m venv"*) mkdir -p "${@: -1}/bin" && cp "$0" "${@: -1}/bin/python" ;;
  *"-m pip"*) exit "${PIP_STATUS:-0}" ;;
  "-c import ensurepip"* | *"
import ensurepip"*) exit "${TOO_OLD:-0}" ;;
  *) echo "$(cat "$0.version" 2>/dev/null)" ;;
esac
"""


class Machine:
    """A clone of the project's set-up files, and a PATH that holds nothing but what was put there."""

    def __init__(self, folder: Path) -> None:
        self.clone, self.bin, self.calls = folder / "a clone", folder / "bin", folder / "calls"
        self.bin.mkdir()
        (self.clone / "packaging").mkdir(parents=True)
        for name in FILES:
            shutil.copy(ROOT / name, self.clone / name)
        self._forget_libraries()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or tool)
        self.program("uname", "#!/bin/bash\necho Linux\n")
        self.program("id", "#!/bin/bash\necho 1000\n")
        self.program("apt-get", '#!/bin/bash\necho apt-get "$@" >>"$CALLS"\n')
        for name in (
            "g++",
            "bwrap",
            "Xvfb",
            "curl",
            "xdotool",
            "dbus-daemon",
            "openbox",
            "xterm",
            "pulseaudio",
            "pactl",
            "ffmpeg",
            "espeak-ng",
        ):
            self.program(name, "#!/bin/bash\n")
        self.program("python3", PYTHON)

    def _forget_libraries(self) -> None:
        """They are looked for on the real machine, where they may or may not be."""
        file = self.clone / "packaging" / "system.txt"
        file.write_text("".join(line for line in file.open() if " library:" not in line and " font:" not in line))

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def setup(self, *arguments: str, **environment: str) -> tuple[int, str, list[str]]:
        """Run it -> exit status, what it said, the calls that installed or made something."""
        self.calls.write_text("")
        command = [str(self.bin / "bash"), "packaging/setup.sh", *arguments]
        env = {"PATH": str(self.bin), "CALLS": str(self.calls), **environment}
        run = subprocess.run(command, cwd=self.clone, env=env, capture_output=True, text=True, timeout=60)
        calls = [line for line in self.calls.read_text().splitlines() if "-m " in line or "apt-get" in line]
        return run.returncode, run.stderr, calls


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_fresh_machine_gets_everything_torch_first(machine: Machine) -> None:
    status, _, calls = machine.setup("test")
    assert status == 0
    assert calls[0] == "-m venv --clear .venv"
    assert "torch==2.13.0" in calls[1]
    assert calls[2].endswith("-e .[test]")
    assert len(calls) == 3
    assert [call for call in calls[1:] if "-c packaging/constraints.txt" not in call] == []


def test_each_end_of_the_versions_has_an_environment_of_its_own(machine: Machine) -> None:
    _, _, calls = machine.setup("oldest")
    assert calls[0] == "-m venv --clear .venv-oldest"
    assert calls[2].endswith("-c .venv-oldest/oldest.txt -e .[test]")
    _, _, calls = machine.setup("newest")
    assert calls[0] == "-m venv --clear .venv-newest"
    assert calls[2].endswith("--upgrade --upgrade-strategy eager -e .[test]")
    assert "constraints" not in calls[2]
    assert machine.setup("oldest")[2] == []
    assert len(machine.setup("newest")[2]) == 2  # what is newest changes without our doing
    assert not (machine.clone / ".venv").exists()


def test_other_versions_are_installed_into_the_same_environment(machine: Machine) -> None:
    machine.setup("run")
    with (machine.clone / "packaging/constraints.txt").open("a") as file:
        file.write("another==1.0\n")
    _, _, calls = machine.setup("run")
    assert [c for c in calls if "-m pip" in c] == calls != []


def test_a_second_run_installs_nothing(machine: Machine) -> None:
    machine.setup("test")
    assert machine.setup("test") == (0, "", [])
    assert machine.setup("run") == (0, "", [])  # what tests can use, people can


def test_run_does_not_stand_in_for_test(machine: Machine) -> None:
    _, _, calls = machine.setup("run")
    assert calls[-1].endswith("-e .")
    _, _, calls = machine.setup("test")
    assert calls[-1].endswith("-e .[test]")


def test_changed_dependencies_are_installed_into_the_same_environment(machine: Machine) -> None:
    machine.setup("run")
    with (machine.clone / "pyproject.toml").open("a") as file:
        file.write("# another dependency\n")
    _, _, calls = machine.setup("run")
    assert [c for c in calls if "-m pip" in c] == calls != []


def test_an_install_that_failed_is_tried_again(machine: Machine) -> None:
    status, _, _ = machine.setup("run", PIP_STATUS="1")
    assert status != 0
    status, _, calls = machine.setup("run")
    assert status == 0
    assert calls[-1].endswith("-e .")


def test_a_broken_environment_is_made_anew(machine: Machine) -> None:
    machine.setup("run")
    (machine.clone / ".venv/bin/python").unlink()
    _, _, calls = machine.setup("run")
    assert calls[0] == "-m venv --clear .venv"


def test_another_python_asked_for_by_name_replaces_the_environment(machine: Machine) -> None:
    machine.program("other", PYTHON)
    machine.setup("run")
    assert machine.setup("run", PYTHON="other")[2] == []  # the same version by another name
    (machine.bin / "other.version").write_text("3.13")
    assert machine.setup("run", PYTHON="other")[2][0] == "-m venv --clear .venv"


def test_no_suitable_python_is_one_clear_end(machine: Machine) -> None:
    status, said, _ = machine.setup("run", TOO_OLD="1")
    assert status == 1
    assert "3.11 to 3.14" in said
    assert not (machine.clone / ".venv").exists()


def test_a_missing_system_package_that_may_not_be_installed_is_one_line(machine: Machine) -> None:
    machine.setup("test")
    (machine.bin / "g++").unlink()
    status, said, calls = machine.setup("test")
    assert (status, calls) == (0, [])
    assert said.splitlines()[-1].endswith("Please run: sudo apt-get install g++")


def test_all_that_may_not_be_installed_is_said_in_one_line(machine: Machine) -> None:
    """On a fresh machine, with what the environment, Grus and its tests need."""
    (machine.bin / "g++").unlink()
    (machine.bin / "Xvfb").unlink()
    with (machine.clone / "packaging/system.txt").open("a") as file:
        file.write("run library:libgrus-nowhere.so.9 libgrus-nowhere9,g++ - - - a test\n")
        file.write("brought library:libgrus-elsewhere.so.9 libgrus-nowhere9 - - - a test\n")
    status, said, _ = machine.setup("test")
    assert status == 0
    lines = [line for line in said.splitlines() if "apt-get" in line or "libgrus" in line]
    assert len(lines) == 1
    assert lines[0].endswith("Please run: sudo apt-get install g++ xvfb libgrus-nowhere9")


def test_another_program_may_stand_in_for_one(machine: Machine) -> None:
    (machine.bin / "pulseaudio").unlink()
    assert "apt-get install pulseaudio" in machine.setup("test")[1]
    machine.program("pipewire-pulse", "#!/bin/bash\n")
    assert "apt-get" not in machine.setup("test")[1]


def test_a_missing_system_package_is_installed_where_that_is_allowed(machine: Machine) -> None:
    (machine.bin / "g++").unlink()
    machine.program("sudo", '#!/bin/bash\n[ "$2" = true ] || "${@:2}"\n')
    machine.program("true", "#!/bin/bash\n")
    (machine.bin / "env").symlink_to(shutil.which("env") or "env")
    _, said, calls = machine.setup("test")
    assert "Please run" not in said
    assert any(c.startswith("apt-get install") and c.endswith("g++") for c in calls)


def test_a_missing_library_is_noticed(machine: Machine) -> None:
    with (machine.clone / "packaging/system.txt").open("a") as file:
        file.write("run library:libgrus-nowhere.so.9 libgrus-nowhere9 - - - a test\n")
        file.write("run command:bash never-needed never-needed never-needed never-needed a test\n")
    _, said, _ = machine.setup("run")
    assert "sudo apt-get install libgrus-nowhere9" in said
    assert "never-needed" not in said


def test_an_unknown_purpose_is_refused(machine: Machine) -> None:
    assert machine.setup("dance")[0] == 2
    assert not (machine.clone / ".venv").exists()
