"""`grus connect` and `grus launch`: what becomes of programs' settings, in processes and home folders of their own."""

from __future__ import annotations

import http.server
import json
import os
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.agents.settings_text import MISSING, changed, load
from engine.errors import BadRequest
from tests.app.fresh import several

NAMES = ("claude", "codex", "opencode", "aider", "continue", "zed")
FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/config.toml",
    "opencode": ".config/opencode/opencode.jsonc",
    "aider": ".aider.conf.yml",
    "continue": ".continue/config.yaml",
    "zed": ".config/zed/settings.json",
}
# what people have there: comments, other keys, and the keys that connecting sets with other values
BEFORE = {
    "claude": '{\n  "model": "opus",\n  "env": {\n    "FOO": "1"\n  },\n  "permissions": { "allow": ["Bash(ls)"] }\n}\n',
    "codex": '# mine\nmodel = "gpt-5" # the big one\napproval_policy = "never"\n\n[mcp_servers.docs]\ncommand = "docs"\n',
    "opencode": '{\n  // mine\n  "theme": "dark", // at night\n  "provider": {\n    "other": { "npm": "x" },\n  },\n}\n',
    "aider": "# mine\nmodel: sonnet  # the usual\ndark-mode: true\n",
    "continue": "name: Mine\nversion: 0.0.1\nschema: v1\nmodels:\n  # at work\n  - name: Work\n    provider: openai\n    roles:\n      - chat\n\n# the end\n",
    "zed": '// Zed\n{\n\t"vim_mode": true,\n\t"agent": {\n\t\t"default_model": { "provider": "zed.dev", "model": "x" },\n\t},\n}\n',
}  # fmt: skip


class ModelsServer(http.server.BaseHTTPRequestHandler):
    """`/v1/models`, for the key `sesame`."""

    def do_GET(self) -> None:
        right = self.headers.get("Authorization") == "Bearer sesame"
        cards = [
            {"id": "ears", "kind": "transcription"},
            {"id": "cold", "kind": "text", "loaded": False},
            {"id": "warm", "kind": "text", "loaded": True, "context_length": 40960},
        ]
        body = json.dumps({"object": "list", "data": cards}).encode()
        self.send_response(200 if right else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ModelsServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder in which every program was used before."""
    for name, file in FILES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(BEFORE[name].encode())
    return tmp_path


def run(home: Path, *commands: list[object], **more: str) -> list[Any]:
    folders = {"XDG_CONFIG_HOME": str(home / ".config"), "XDG_DATA_HOME": str(home / ".data"), "APPDATA": str(home)}
    names = dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG", "CONTINUE_GLOBAL_DIR"), "")
    alone = {**names, "HOME": str(home), "USERPROFILE": str(home), "PATH": os.path.dirname(sys.executable)}
    return several(*commands, **{**folders, **alone, **more})


def everything(home: Path) -> dict[str, bytes]:
    own = home / ".config" / "Grus"
    files = (file for file in home.rglob("*") if file.is_file() and own not in file.parents)
    return {file.relative_to(home).as_posix(): file.read_bytes() for file in files}


def settings(home: Path, name: str) -> Any:
    kind = {"codex": "toml", "aider": "yaml", "continue": "yaml"}.get(name, "json")
    return load(kind, (home / FILES[name]).read_text(encoding="utf-8"))  # type: ignore[arg-type]


def test_every_program_is_connected_and_all_is_as_before_once_it_is_taken_back(home: Path, url: str) -> None:
    before = everything(home)
    dry = run(home, *(["connect", name, "--url", url, "--dry-run"] for name in NAMES), GRUS_API_KEY="sesame")
    assert [one.code for one in dry] == [0] * len(NAMES)
    assert everything(home) == before
    for one in dry:
        assert "\n+" in one.out
        assert "warm" in one.out
        assert "sesame" not in one.out

    done = run(home, *(["connect", name, "--url", url] for name in NAMES), ["connect"], GRUS_API_KEY="sesame")
    assert [one.code for one in done] == [0] * (len(NAMES) + 1), done
    assert done[-1].out.count("connected") == len(NAMES)
    assert "sesame" not in "".join(one.out for one in done)
    claude, codex, opencode = (settings(home, name) for name in ("claude", "codex", "opencode"))
    assert claude["model"] == "opus"
    assert claude["env"]["FOO"] == "1"
    assert claude["env"]["ANTHROPIC_BASE_URL"] == url
    assert (claude["env"]["ANTHROPIC_AUTH_TOKEN"], claude["env"]["ANTHROPIC_MODEL"]) == ("sesame", "warm")
    assert (codex["model"], codex["model_provider"], codex["model_context_window"]) == ("warm", "grus", 40960)
    assert codex["model_providers"]["grus"]["http_headers"] == {"Authorization": "Bearer sesame"}
    assert codex["mcp_servers"] == {"docs": {"command": "docs"}}
    assert set(opencode["provider"]) == {"other", "grus"}
    assert opencode["provider"]["grus"]["models"]["warm"]["limit"]["context"] == 40960
    assert settings(home, "aider") == {
        "model": "openai/warm", "dark-mode": True, "openai-api-base": f"{url}/v1", "openai-api-key": "sesame",
    }  # fmt: skip
    assert [one["name"] for one in settings(home, "continue")["models"]] == ["Grus", "Work"]
    assert settings(home, "continue")["name"] == "Mine"
    assert settings(home, "zed")["agent"]["default_model"] == {"provider": "Grus", "model": "warm"}
    after = everything(home)
    for name, file in FILES.items():
        assert after[f"{file}.before-grus"] == BEFORE[name].encode()
        for comment in ("// mine", "// at night", "# the big one", "# the usual", "# at work", "# the end", "// Zed"):
            assert (comment in BEFORE[name]) == (comment in after[file].decode()), (name, comment)

    again = run(home, *(["connect", name, "--url", url] for name in NAMES), GRUS_API_KEY="sesame")
    assert ["needs no change" in one.out for one in again] == [True] * len(NAMES)
    assert everything(home) == after

    undone = run(home, *(["connect", name, "--undo"] for name in NAMES), ["connect", "claude", "--undo"])
    assert [one.code for one in undone] == [0] * len(NAMES) + [2]
    assert "nothing to take back" in undone[-1].err
    assert everything(home) == before


def test_what_was_changed_by_hand_since_stays(home: Path, url: str) -> None:
    run(home, *(["connect", name, "--url", url] for name in NAMES), GRUS_API_KEY="sesame")
    for name, old, new in (
        ("claude", '"FOO": "1"', '"FOO": "2"'),
        ("claude", '"ANTHROPIC_MODEL": "warm"', '"ANTHROPIC_MODEL": "mine"'),
        ("codex", 'command = "docs"', 'command = "other"'),
        ("opencode", '"theme": "dark"', '"theme": "light"'),
        ("aider", "dark-mode: true", "dark-mode: false"),
        ("continue", "name: Mine", "name: Ours"),
        ("zed", '"vim_mode": true', '"vim_mode": false'),
    ):
        text = (home / FILES[name]).read_text(encoding="utf-8")
        assert old in text
        (home / FILES[name]).write_text(text.replace(old, new), encoding="utf-8")
    # a second time: what was changed in between is no part of what is taken back
    run(home, *(["connect", name, "--url", url, "--model", "cold"] for name in NAMES[1:]), GRUS_API_KEY="sesame")
    undone = run(home, *(["connect", name, "--undo"] for name in NAMES))
    assert [one.code for one in undone] == [0] * len(NAMES), undone
    assert "env.ANTHROPIC_MODEL, which was changed since" in undone[0].out
    assert settings(home, "claude")["env"] == {"FOO": "2", "ANTHROPIC_MODEL": "mine"}
    texts = {name: (home / file).read_text(encoding="utf-8") for name, file in FILES.items()}
    assert texts["opencode"] == BEFORE["opencode"].replace("dark", "light")
    assert texts["codex"] == BEFORE["codex"].replace('"docs"', '"other"')
    assert texts["aider"] == BEFORE["aider"].replace("true", "false")
    assert texts["continue"] == BEFORE["continue"].replace("Mine", "Ours")
    assert load("json", texts["zed"]) == {**load("json", BEFORE["zed"]), "vim_mode": False}
    assert (home / f"{FILES['zed']}.before-grus").read_text(encoding="utf-8") == BEFORE["zed"]


def test_a_file_that_was_not_there_is_private_and_goes_again(tmp_path: Path, url: str) -> None:
    for name in NAMES:
        (tmp_path / FILES[name]).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / FILES["aider"]).write_text("", encoding="utf-8")  # aider is known by its file alone
    run(tmp_path, *(["connect", name, "--url", url] for name in NAMES), GRUS_API_KEY="sesame")
    made = {name: tmp_path / file for name, file in FILES.items() if name not in ("aider", "opencode")}
    made["opencode"] = tmp_path / ".config/opencode/opencode.json"
    for file in made.values():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    run(tmp_path, *(["connect", name, "--undo"] for name in NAMES))
    assert everything(tmp_path) == {".aider.conf.yml": b""}


def test_what_cannot_be_done_is_said_and_changes_nothing(home: Path, url: str, tmp_path: Path) -> None:
    (home / FILES["claude"]).write_text('{\n  "env": {\n}}}', encoding="utf-8")
    (home / FILES["codex"]).write_text('model_providers = { other = { name = "x" } }\n', encoding="utf-8")
    (home / FILES["zed"]).write_bytes(b"\xff\xfe{}")
    before = everything(home)
    broken, odd, binary, no_key, no_model, asleep, nowhere, wrong = run(
        home, ["connect", "claude", "--url", url, "--model", "warm"], ["connect", "codex", "--url", url], ["connect", "zed", "--url", url],
        ["connect", "aider", "--url", "http://127.0.0.1:1"], ["connect", "aider", "--url", url, "--model", "absent"],
        ["connect", "aider", "--url", "http://127.0.0.1:1", "--model", "m", "--dry-run"], ["connect", "aider", "--url", "somewhere"],
        ["connect", "vim"], GRUS_API_KEY="sesame",
    )  # fmt: skip
    assert "settings.json cannot be read (line 3 is not JSON). Correct it first; nothing was changed." in broken.err
    assert "written in a way that Grus cannot change safely" in odd.err
    assert "no text in UTF-8" in binary.err
    assert "No server answers at http://127.0.0.1:1. Start it" in no_key.err
    assert "has no model absent. It has: cold, warm." in no_model.err
    assert asleep.code == 0
    assert "openai/m" in asleep.out
    assert "somewhere is no address of a server" in nowhere.err
    assert "invalid choice: 'vim'" in wrong.err
    (refused,) = run(home, ["connect", "aider", "--url", url])
    assert "wants a key: set GRUS_API_KEY" in refused.err
    assert everything(home) == before
    absent = run(tmp_path / "empty", *(["connect", name, "--url", url] for name in NAMES), ["launch", "claude"])
    assert [f"{one.err}".split(":")[1].endswith("is not installed") for one in absent] == [True] * (len(NAMES) + 1)
    assert "npm install -g @anthropic-ai/claude-code" in absent[0].err


def test_a_link_stays_a_link_and_a_file_keeps_its_rights(home: Path, url: str) -> None:
    file, target = home / FILES["claude"], home / "dotfiles.json"
    file.rename(target)
    file.symlink_to(target)
    target.chmod(0o640)
    run(home, ["connect", "claude", "--url", url], GRUS_API_KEY="sesame")
    assert file.is_symlink()
    assert json.loads(target.read_text(encoding="utf-8"))["env"]["ANTHROPIC_BASE_URL"] == url
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


PROGRAM = """#!{python}
import json, os, sys
given = {{name: value for name, value in os.environ.items() if name in {names!r}}}
files = [open(word).read() for word in sys.argv[1:] if word.endswith("config.yaml")]
print(json.dumps([sys.argv[1:], given, files]))
sys.exit(7)
"""
VARIABLES = ("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL", "ANTHROPIC_API_KEY", "GRUS_AGENT_KEY", "OPENCODE_CONFIG_CONTENT", "AIDER_OPENAI_API_BASE", "AIDER_MODEL")  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="the program in the test is a script with a first line")
def test_a_launched_program_has_the_server_in_its_environment_alone(home: Path, url: str) -> None:
    import subprocess

    from tests.app.fresh import ROOT, environment

    folder = home / "bin"
    folder.mkdir()
    for command in ("claude", "codex", "opencode", "aider", "cn", "zed"):
        (folder / command).write_text(PROGRAM.format(python=sys.executable, names=VARIABLES), encoding="utf-8")
        (folder / command).chmod(0o755)
    before = everything(home)

    def launch(name: str, *arguments: str) -> tuple[int, Any, str]:
        given = environment(
            HOME=str(home), PATH=str(folder), XDG_CONFIG_HOME=str(home / ".config"), XDG_DATA_HOME=str(home / ".data"),
            GRUS_API_KEY="sesame", ANTHROPIC_API_KEY="another",
        )  # fmt: skip
        words = [sys.executable, "-m", "app.cli", "launch", name, "--url", url, *arguments]
        done = subprocess.run(words, cwd=ROOT, env=given, capture_output=True, text=True, timeout=120)
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    code, (words, given, _), _ = launch("claude", "--", "-p", "Say hello", "--verbose")
    assert (code, words) == (7, ["-p", "Say hello", "--verbose"])
    assert given == {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "sesame", "ANTHROPIC_MODEL": "warm"}
    _, (words, given, _), _ = launch("codex", "--model", "cold", "--", "exec", "hi")
    assert words[:2] == ["-c", 'model="cold"']
    assert words[-2:] == ["exec", "hi"]
    assert f'model_providers.grus.base_url="{url}/v1"' in words
    assert given["GRUS_AGENT_KEY"] == "sesame"
    assert "sesame" not in " ".join(words)
    _, (_, given, _), _ = launch("opencode")
    assert json.loads(given["OPENCODE_CONFIG_CONTENT"])["provider"]["grus"]["options"]["apiKey"] == "sesame"
    _, (_, given, _), _ = launch("aider")
    assert (given["AIDER_OPENAI_API_BASE"], given["AIDER_MODEL"]) == (f"{url}/v1", "openai/warm")
    _, (words, _, files), _ = launch("continue", "--", "-p", "hi")
    assert (words[0], words[2:]) == ("--config", ["-p", "hi"])
    assert json.loads(files[0])["models"][0]["model"] == "warm"
    assert not Path(words[1]).exists()
    code, _, problem = launch("zed")
    assert (code, "grus connect zed" in problem) == (2, True)
    assert everything(home) == before


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("json", ""),
        ("json", "// only a comment\n"),
        ("json", "{}"),
        ("json", '{"a": {}}'),
        ("json", '{"a": 1, "b": [1, {"c": "}"}]}'),
        ("json", '{ /* {"a": 1} */ "a": "x\\"y" /* y */, // z\n }'),
        ("json", '{\r\n    "a": 1\r\n}\r\n'),
        ("toml", ""),
        ("toml", "a = 1"),
        ("toml", 'x = """\na = 2\n[t]\n"""\n[t]\na = 1\n'),
        ("toml", "[[list]]\na = 1\n# of the list\n[t.u]\nb = 2 # two\n"),
        ("yaml", ""),
        ("yaml", "# only a comment\n"),
        ("yaml", "a: |\n  b: c\nb: [1, 2]\n"),
        ("yaml", "models:\na: 1"),
        ("yaml", "models: []\na: 1\n"),
        ("yaml", "models:\n- name: x\n  y: |\n    text\n\n# end\nz: 1\n"),
    ],
)
def test_values_come_and_go_and_all_else_stays(kind: Any, text: str) -> None:
    paths = {"json": [("a",), ("n", "m", "o")], "toml": [("new",), ("t", "v")], "yaml": [("new",), ("models", "Grus")]}
    value = {"name": "Grus", "k": "ä\"\\ '", "l": ["x", "y"]}
    wanted: dict[tuple[str, ...], Any] = {paths[kind][0]: "text # no comment", paths[kind][1]: value}
    new = changed(kind, text, wanted)
    assert changed(kind, new, wanted) == new
    data = load(kind, new)
    for path, one in wanted.items():
        assert _at(data, path) == one
    other = changed(kind, new, {paths[kind][1]: {**value, "k": "other"}})
    assert _at(load(kind, other), paths[kind][1])["k"] == "other"
    fresh = [path for path in wanted if path != ("a",)]
    back = changed(kind, new, dict.fromkeys(fresh, MISSING))
    for line in text.splitlines():
        bare = line.strip().rstrip(",")
        if '"a"' not in line and len(bare) > 3 and bare != "models:":
            assert bare in back, (line, back)


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        data = next(one for one in data if one["name"] == name) if isinstance(data, list) else data[name]
    return data


@pytest.mark.parametrize("text", ["{", '{"a" 1}', "[1,,2]", '{"a": 1} x', "nul", "[" * 5000, '{"a": "\n"}'])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises((ValueError, BadRequest)):
        load("json", text)
