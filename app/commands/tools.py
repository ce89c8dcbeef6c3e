"""`grus tools`: the tools that models may call: MCP servers, built-in tools, and what is allowed of each."""

from __future__ import annotations

import argparse
import getpass
import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import BadRequest, GrusError

if TYPE_CHECKING:
    from app.runtime.tools.resources import ServerPrompt, ServerResource
    from app.runtime.tools.settings import ToolSettings
    from app.runtime.tools.toolbox import Toolbox

DESCRIPTION = """\
Adds tools that a model may call with `grus chat --tools`: servers that speak MCP, and a few that come with Grus. Nothing is on
until it is added, and a person is asked before a tool runs, unless they have set it to always or never run.

  grus tools add files "npx -y @modelcontextprotocol/server-filesystem ~/Papers"
  grus tools add docs https://example.org/mcp --header "Authorization: Bearer ${DOCS_KEY}"
  grus tools add < claude_desktop_config.json     servers as Claude Desktop, Cursor, LM Studio and VS Code write them
  grus tools add calculator                       comes with Grus; so do date, python, read_file DIR..., search_documents DIR...
  grus tools add web_search https://searx.example.org   your SearXNG; --key asks for a key; read_web_page reads pages
  grus tools                                      lists what was added
  grus tools test files                           starts it and lists its tools, resources and prompts
  grus tools login docs                           signs in where a server asks for it; logout deletes the sign-in here
  grus tools permit files/read_file always        or: ask, never
  grus tools log files                            what it wrote to its standard error
  grus tools remove files

  grus chat Qwen/Qwen3-4B --tools
  grus run Qwen/Qwen3-4B "What is in notes.txt?" --tool files --tool calculator

A server is started as a process of its own, with few of your variables: --env NAME=VALUE gives it one more, and ${NAME} stands for
one of yours. What a tool of an address elsewhere is asked leaves this machine."""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "tools",
        help="the tools that models may call",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "action", nargs="?", choices=("list", "add", "remove", "test", "permit", "log", "login", "logout"), default="list",
        help="what to do (default: list)",
    )  # fmt: skip
    command.add_argument("name", metavar="NAME", nargs="?", help="a server, a built-in tool, or SERVER/TOOL")
    command.add_argument(
        "rest", metavar="WHAT", nargs="*", help="for add: a command in quotes, an address, or folders; for permit: always, ask or never"
    )  # fmt: skip
    command.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a variable of a server's process; may be repeated",
    )
    command.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME: VALUE",
        help="a header for a server's address; may be repeated",
    )
    command.add_argument(
        "--key", action="store_true", help="ask for the key of web_search, or read it from standard input"
    )
    command.add_argument("--json", action="store_true", help="print a JSON object")
    command.set_defaults(command=tools)


def tools(options: argparse.Namespace) -> int:
    from app.commands.sign_in import login, logout

    actions = {
        "list": _list, "add": _add, "remove": _remove, "test": _test, "permit": _permit, "log": _log, "login": login, "logout": logout,
    }  # fmt: skip
    if options.action not in ("list", "add") and not options.name:
        raise BadRequest(f"Say which: grus tools {options.action} NAME", "name")
    return actions[options.action](options)


def _list(options: argparse.Namespace) -> int:
    from app.runtime.tools.kept_sign_ins import is_signed_in
    from app.runtime.tools.settings import ToolSettings

    settings = ToolSettings()
    servers, builtin, permissions = settings.servers(), settings.builtin(), settings.permissions()
    for why in settings.unusable().values():
        print(plain(why), file=sys.stderr)
    if options.json:
        found = [
            {"name": one.name, "where": one.where, "enabled": one.enabled, "signed_in": is_signed_in(one)}
            for one in servers
        ]
        print(json.dumps({"servers": found, "builtin": builtin, "permissions": permissions}, ensure_ascii=False))
        return 0
    if not servers and not builtin:
        print("No tool was added. `grus tools --help` says how.")
    for name, folders in builtin.items():
        print(f"{name}  comes with Grus{': ' + ', '.join(folders) if folders else ''}")
    for one in servers:
        signed = ", signed in" if is_signed_in(one) else ""
        print(f"{one.name}  {plain(one.where)}{'' if one.enabled else ', off'}{signed}")
    for label, permission in permissions.items():
        print(f"  {plain(label)}: {permission}")
    return 0


def _add(options: argparse.Namespace) -> int:
    from app.runtime.tools.builtin import BUILTIN_TOOLS, WEB_SEARCH, WITH_FOLDERS, missing
    from app.runtime.tools.settings import ToolSettings, check_server_name, servers_in

    settings = ToolSettings()
    name, rest = options.name, options.rest
    if name == WEB_SEARCH:
        from app.runtime.tools.web import keep_search

        if len(rest) != 1:
            raise BadRequest(f"{name} takes the address of a search: grus tools add {name} https://...", "address")
        address = keep_search(settings, rest[0], _line_of_key() if options.key else "")
        print(f"{name} is on. Each query goes to {address}.")
        return 0
    if name in BUILTIN_TOOLS:
        folders = [str(Path(folder).expanduser().resolve()) for folder in rest]
        if bool(folders) != (name in WITH_FOLDERS):
            takes = "the folders that it may read" if name in WITH_FOLDERS else "nothing else"
            raise BadRequest(
                f"{name} takes {takes}: grus tools add {name}{' DIR...' if name in WITH_FOLDERS else ''}", "folder"
            )
        if gone := [folder for folder in folders if not Path(folder).is_dir()]:
            raise BadRequest(f"There is no folder {gone[0]}.", "folder")
        if why := missing(name):
            raise BadRequest(why, "name")
        settings.keep_builtin(name, folders)
        print(f"{name} is on.")
        return 0
    if name is None or not rest:
        if sys.stdin.isatty():
            print("Paste the JSON of the servers, then press Ctrl-D:", file=sys.stderr)
        servers, ignored = servers_in(sys.stdin.read(), name)
        for field in ignored:
            print(f"{field} has no meaning here and is left out.", file=sys.stderr)
    elif len(rest) > 1:
        raise BadRequest(
            f'Give the command as one word, in quotes: grus tools add {name} "{shlex.join(rest)}"', "command"
        )
    else:
        check_server_name(name)
        fields: dict[str, Any] = {"env": _pairs(options.env, "="), "headers": _pairs(options.header, ":")}
        if rest[0].startswith(("http://", "https://")):
            fields["url"] = rest[0]
        else:
            fields["command"], *fields["args"] = _words(rest[0])
        servers, _ = servers_in(json.dumps(fields), name)
    settings.keep_servers(servers)
    for one in servers:
        print(f"{one.name} is added. {_consequence(one)} grus tools test {one.name} lists its tools.")
    return 0


def _line_of_key() -> str:
    return getpass.getpass("Key (not shown): ") if sys.stdin.isatty() else sys.stdin.readline()


def _consequence(server: Any) -> str:
    if server.url:
        return "" if server.on_this_machine else "What its tools are asked leaves this machine."
    return f"It runs as you: {plain(server.where)}."


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadRequest(f"This command cannot be read: {error}.", "command") from None
    if not words:
        raise BadRequest("The command is empty.", "command")
    return words


def _pairs(given: list[str], between: str) -> dict[str, str]:
    found = {}
    for text in given:
        name, found_between, value = text.partition(between)
        if not found_between or not name.strip():
            raise BadRequest(f"Write NAME{between}VALUE, not {text[:60]!r}.", "env" if between == "=" else "header")
        found[name.strip()] = value.strip()
    return found


def _remove(options: argparse.Namespace) -> int:
    from app.runtime.tools.builtin import WEB_SEARCH
    from app.runtime.tools.kept_sign_ins import forget_unused
    from app.runtime.tools.settings import ToolSettings
    from app.runtime.tools.web import forget_search

    settings = ToolSettings()
    if options.name == WEB_SEARCH:
        forget_search(settings)
    settings.remove(options.name)
    forget_unused(settings)
    print(f"{options.name} is removed, with what was allowed of it.")
    return 0


def _test(options: argparse.Namespace) -> int:
    from app.runtime.tools.settings import ToolSettings
    from app.runtime.tools.toolbox import Toolbox

    settings = ToolSettings()
    try:
        with Toolbox(settings, [options.name]) as box:
            found: list[dict[str, Any]] = [
                {"name": tool.label, "description": tool.description, "read_only": tool.read_only, "parameters": tool.parameters,
                 "permission": settings.permission(tool.label, tool.digest)}
                for tool in box.tools
            ]  # fmt: skip
            resources, prompts = _beside_tools(box, settings, options.name)
    except GrusError as error:
        if (settings.logs / f"{options.name}.log").exists():
            print(f"grus tools log {options.name} shows what it wrote.", file=sys.stderr)
        if options.json:
            print(json.dumps({"name": options.name, "ok": False, "error": {"code": error.code, "message": str(error)}}))
            return error.exit_code
        raise
    if options.json:
        beside = {"resources": list(map(asdict, resources)), "prompts": list(map(asdict, prompts))}
        print(json.dumps({"name": options.name, "ok": True, "tools": found, **beside}, ensure_ascii=False))
        return 0
    for one in found:
        first = one["description"].strip().partition("\n")[0]
        print(
            f"{plain(one['name'])}  [{one['permission']}{', only reads' if one['read_only'] else ''}]  {plain(first)}"
        )
    for resource in resources:
        print(f"resource {plain(resource.uri)}  {resource.title}")
    for prompt in prompts:
        print(f"prompt {plain(prompt.name)}  {prompt.title}{_needs(prompt)}")
    return 0


def _beside_tools(box: Toolbox, settings: ToolSettings, name: str) -> tuple[list[ServerResource], list[ServerPrompt]]:
    """Resources and prompts of a server that was named as a whole."""
    server = next((one for one in settings.servers() if one.name == name), None)
    if server is None:
        return [], []
    connection = box.connection(server)
    return connection.resources().result(), connection.prompts().result()


def _needs(prompt: ServerPrompt) -> str:
    names = [one.name if one.required else f"{one.name} (optional)" for one in prompt.arguments]
    return f", with {plain(', '.join(names))}" if names else ""


def _permit(options: argparse.Namespace) -> int:
    from app.runtime.memories import REMEMBER, remember_tool
    from app.runtime.tools.settings import PERMISSIONS, ToolSettings
    from app.runtime.tools.tool import BUILTIN
    from app.runtime.tools.toolbox import Toolbox

    if len(options.rest) != 1 or options.rest[0] not in PERMISSIONS:
        raise BadRequest(f"Say {', '.join(PERMISSIONS)}: grus tools permit {options.name} ask", "permission")
    (permission,) = options.rest
    settings = ToolSettings()
    label = options.name if "/" in options.name else f"{BUILTIN}/{options.name}"
    digest = ""
    if permission == "always":  # of the tool as it is now, so it is looked at
        if settings.permissions().get(label) == "never":  # which hides it
            settings.keep_permission(label, "ask", "")
        if label == REMEMBER:  # which no one adds: it comes with `grus chat --memory`
            digest = remember_tool(str).digest
        else:
            with Toolbox(settings, [label]) as box:
                digest = box.tools[0].digest
    settings.keep_permission(label, permission, digest)
    print(f"{label}: {permission}")
    return 0


def _log(options: argparse.Namespace) -> int:
    from app.runtime.tools.settings import ToolSettings

    settings = ToolSettings()
    settings.server(options.name)
    files = [settings.logs / f"{options.name}{ending}" for ending in (".old.log", ".log")]
    written = [file.read_text("utf-8", "replace") for file in files if file.exists()]
    print(
        plain("".join(written), lines=True) if written else f"{options.name} has written nothing to its standard error."
    )
    return 0


def plain(text: str, *, lines: bool = False) -> str:
    """Text from outside for a terminal: signs that would move the cursor, or turn the direction of what is shown, are spelled out."""
    return "".join(
        sign if sign.isprintable() or (lines and sign in "\n\t") else sign.encode("unicode_escape").decode()
        for sign in text
    )
