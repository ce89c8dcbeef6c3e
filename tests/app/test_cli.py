"""The command line as a whole: which commands there are, and what one of them imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import COMMANDS, parser

LOADED = """
import sys
from app.cli import parser
parser("token")
print(*sorted(name for name in sys.modules if name.startswith("app.commands.")))
"""

COLLECTIONS = """
import gc
from app.cli import main
code = main(["serve", "--port", "99999"])
print(code, gc.get_stats()[0]["collections"], gc.isenabled())
"""
COLLECTING = """
import gc
from app.cli import main
from app.server.listening import Listener
Listener.listen = lambda _: print(gc.isenabled())
Listener.run = lambda _: None
main(["serve", "--port", "0"])
"""


def test_every_file_of_a_command_is_one() -> None:
    files = {
        path.stem for path in Path("app/commands").glob("*.py") if "def add_to(" in path.read_text(encoding="utf-8")
    }
    assert files == set(COMMANDS.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_alone_takes_what_it_takes_among_all(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for among in (None, command):
        with pytest.raises(SystemExit) as ended:
            parser(among).parse_args([command, "--help"])
        assert ended.value.code == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != ""


def test_a_command_does_not_import_the_others() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["app.commands.token"]


def test_a_servers_imports_do_not_wait_for_the_garbage_collector() -> None:
    """They make 300,000 objects that stay, and the collector went through them 300 times."""
    done = subprocess.run([sys.executable, "-c", COLLECTIONS], capture_output=True, text=True, check=True)
    code, collections, enabled = done.stdout.split()
    assert (code, enabled) == ("2", "True")
    assert int(collections) < 200


def test_a_server_collects_garbage() -> None:
    done = subprocess.run([sys.executable, "-c", COLLECTING], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("True\n")
