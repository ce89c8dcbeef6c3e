"""The table of programs and abilities: what each program can do, and why it cannot do the rest.

`tests/test_clients_page.py` holds docs/clients.md against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# ability -> the head of its column on the page
ABILITIES = {
    "connects": "connects",
    "models": "lists models",
    "two_turns": "streams two turns",
    "tool": "tool loop",
    "structured": "structured object",
    "too_long": "too long a prompt",
}

NO_LIST = "has no list of models"
NO_SCHEMA = "takes no schema"
NO_TOOLS = "has no tools of this kind"
WORDS_ONLY = "has no error of its own for it: it shows the server's words"
TALKS_ONLY = "is tried with one request only"


@dataclass(frozen=True)
class Command:
    """What a test adds to the last line of a program's block. `{prompt}` and `{schema}` are quoted for the shell."""

    ask: str
    again: str
    structured: str = ""
    models: str = ""
    tool: str = ""  # as `ask` where it is empty
    too_long: str = ""  # as `ask` where it is empty


@dataclass(frozen=True)
class Program:
    name: str  # the heading of its section in docs/clients.md
    file: str = ""  # in programs/: what a Python or JavaScript program does for each ability
    command: Command | None = None  # of a program that is run in a shell
    model: str = "weather"
    structured_model: str = ""  # where it asks for objects with a tool of its own
    environment: str = "clients"  # node, or what follows `.venv-` in a folder's name
    too_long: str = ""  # what it says of a prompt that is too long: an expression
    cannot: Mapping[str, str] = field(default_factory=dict)


_CLAUDE = Command(
    ask="--dangerously-skip-permissions -p {prompt}",
    again="--dangerously-skip-permissions -c -p {prompt}",
    structured="--dangerously-skip-permissions --output-format json --json-schema {schema} -p {prompt}",
)
_BYPASS = "exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox"
_CODEX = Command(
    ask=f"{_BYPASS} {{prompt}} </dev/null",
    again=f"{_BYPASS} resume --last {{prompt}} </dev/null",
    structured=f"{_BYPASS} --output-schema schema.json {{prompt}} </dev/null",
)
_OPENCODE = Command(
    ask="run {prompt} </dev/null",
    again="run --continue {prompt} </dev/null",
    too_long="run --print-logs {prompt} </dev/null",
)
_AIDER_OPTIONS = "--no-auto-commits --no-gitignore --yes-always --no-check-update --analytics-disable --no-show-model-warnings --no-pretty"
_AIDER = Command(
    ask=f"{_AIDER_OPTIONS} --message {{prompt}} </dev/null",
    again=f"{_AIDER_OPTIONS} --restore-chat-history --message {{prompt}} </dev/null",
)
_NO_CONTEXT_CLASS = {"too_long": WORDS_ONLY}
_AIDER_CANNOT = {
    "models": "lists the models that litellm knows",
    "tool": "edits files by its own format",
    "structured": NO_SCHEMA,
}
_MAXIMUM = "maximum context length is 2048 tokens"
_ANTHROPIC_LONG = r"prompt is too long: \d+ tokens > 2048 maximum"

PROGRAMS = (
    Program("curl", command=Command("", ""), cannot=dict.fromkeys([*ABILITIES][1:], TALKS_ONLY)),
    Program(
        "Claude Code",
        command=_CLAUDE,
        model="claude-code",
        structured_model="claude-code-object",
        environment="node",
        too_long="Prompt is too long",
        cannot={"models": NO_LIST},
    ),
    Program(
        "Codex",
        command=_CODEX,
        model="codex",
        environment="node",
        too_long="ran out of room in the model's context window",
        cannot={"models": NO_LIST},
    ),
    Program(
        "Codex, --oss",
        command=_CODEX,
        model="codex",
        environment="node",
        too_long="ran out of room in the model's context window",
        cannot={"models": NO_LIST},
    ),
    *(
        Program(
            name,
            command=_OPENCODE,
            model="opencode",
            environment="node",
            too_long="agent=compaction",
            cannot={"models": "lists the models of its own file", "structured": NO_SCHEMA},
        )
        for name in ("opencode", "opencode, Responses", "opencode, Anthropic", "opencode, Ollama")
    ),
    Program(
        "Continue",
        command=Command(ask="--auto -p {prompt} </dev/null", again="--auto --resume -p {prompt} </dev/null"),
        model="continue",
        environment="node",
        too_long=_MAXIMUM,
        cannot={"models": NO_LIST, "structured": NO_SCHEMA},
    ),
    Program(
        "Qwen Code",
        command=Command(ask="--yolo -p {prompt} </dev/null", again="--yolo --continue -p {prompt} </dev/null"),
        model="qwen-code",
        environment="node",
        too_long=_MAXIMUM,
        cannot={"models": NO_LIST, "structured": NO_SCHEMA},
    ),
    Program(
        "Cline",
        command=Command(ask="{prompt} </dev/null", again="{prompt} </dev/null"),
        model="cline",
        environment="node",
        too_long=_MAXIMUM,
        cannot={"models": NO_LIST, "structured": NO_SCHEMA, "two_turns": "continues a task only in its own window"},
    ),
    *(
        Program(name, "open_webui.py", environment="clients-webui", too_long=_MAXIMUM)
        for name in ("Open WebUI", "Open WebUI, Ollama")
    ),
    *(
        Program(
            name,
            command=_AIDER,
            environment="clients-aider",
            too_long="token limit|context window|context length",
            cannot=_AIDER_CANNOT,
        )
        for name in ("aider", "aider, Anthropic", "aider, Ollama")
    ),
    Program(
        "llm",
        command=Command(
            ask="{prompt}",
            again="-c {prompt}",
            structured="--schema schema.json {prompt}",
            tool="--functions functions.py --chain-limit 3 --td {prompt}",
        ),
        too_long=_MAXIMUM,
        cannot={"models": "lists the models of its own file"},
    ),
    Program("Python", "openai_chat.py", too_long="^context_length_exceeded: "),
    Program("Python, Responses", "openai_responses.py", too_long="^context_length_exceeded: "),
    Program("Python, Anthropic", "anthropic_messages.py", too_long=f"^invalid_request_error: .*{_ANTHROPIC_LONG}"),
    Program("Python, Ollama", "ollama_chat.py", too_long="^400: .*context length"),
    Program("litellm", "litellm_completion.py", too_long="^ContextWindowExceededError: "),
    Program(
        "litellm, Ollama",
        "litellm_completion.py",
        cannot={"tool": "writes tools and results into the prompt: use Ollama chat", **_NO_CONTEXT_CLASS},
    ),
    Program("litellm, Ollama chat", "litellm_completion.py", cannot=_NO_CONTEXT_CLASS),
    Program("litellm, Anthropic", "litellm_completion.py", too_long="^ContextWindowExceededError: "),
    Program("LangChain", "langchain_chat.py", too_long="^ContextOverflowError: ", cannot={"models": NO_LIST}),
    Program(
        "LangChain, Anthropic", "langchain_chat.py", too_long="^ContextOverflowError: ", cannot={"models": NO_LIST}
    ),
    Program("LangChain, Ollama", "langchain_chat.py", cannot={"models": NO_LIST, **_NO_CONTEXT_CLASS}),
    Program(
        "LlamaIndex",
        "llama_index_chat.py",
        too_long="BadRequestError.*context_length_exceeded",
        cannot={"models": NO_LIST},
    ),
    Program(
        "LlamaIndex, Ollama",
        "llama_index_chat.py",
        too_long="ResponseError.*context length",
        cannot={"models": NO_LIST},
    ),
    *(
        Program(
            name,
            "pydantic_ai_agent.py",
            too_long=f"^ModelHTTPError 400: .*({_MAXIMUM}|{_ANTHROPIC_LONG})",
            cannot={"models": NO_LIST},
        )
        for name in ("pydantic-ai", "pydantic-ai, Ollama")
    ),
    Program(
        "instructor",
        "instructor_client.py",
        too_long="context_length_exceeded",
        cannot={"models": NO_LIST, "two_turns": "answers with objects, which it streams too", "tool": NO_TOOLS},
    ),
    Program("Agents SDK", "agents_sdk.py", too_long="^context_length_exceeded: ", cannot={"models": NO_LIST}),
    Program(
        "Agents SDK, chat completions",
        "agents_sdk.py",
        too_long="^context_length_exceeded: ",
        cannot={"models": NO_LIST},
    ),
    Program(
        "SGLang's frontend",
        "sglang_frontend.py",
        cannot={"models": NO_LIST, "tool": NO_TOOLS, **_NO_CONTEXT_CLASS},
    ),
    Program("JavaScript", "openai_chat.mjs", environment="node", too_long="^context_length_exceeded: "),
    Program(
        "JavaScript, Anthropic",
        "anthropic_messages.mjs",
        environment="node",
        too_long=f"^invalid_request_error: .*{_ANTHROPIC_LONG}",
    ),
    Program("JavaScript, Ollama", "ollama_chat.mjs", environment="node", too_long="^400: .*context length"),
    *(
        Program(
            name,
            "vercel_ai.mjs",
            environment="node",
            too_long=f"^400: .*({_MAXIMUM}|{_ANTHROPIC_LONG})",
            cannot={"models": NO_LIST},
        )
        for name in ("AI SDK", "AI SDK, Responses", "AI SDK, Anthropic")
    ),
    Program(
        "AI SDK, Ollama", "vercel_ai.mjs", environment="node", too_long="^400: Bad Request", cannot={"models": NO_LIST}
    ),
    Program(
        "Agents SDK for JavaScript",
        "agents_sdk.mjs",
        environment="node",
        too_long="^context_length_exceeded: ",
        cannot={"models": NO_LIST},
    ),
)


def page_table() -> list[str]:
    """The table of docs/clients.md, with a note for each reason."""
    reasons = list(dict.fromkeys(why for program in PROGRAMS for why in program.cannot.values()))
    lines = [f"| program | {' | '.join(ABILITIES.values())} |", f"|---|{'---|' * len(ABILITIES)}"]
    for program in PROGRAMS:
        cells = [
            f"cannot ({reasons.index(program.cannot[a]) + 1})" if a in program.cannot else "yes" for a in ABILITIES
        ]
        lines.append(f"| {program.name} | {' | '.join(cells)} |")
    return [*lines, "", "Cannot: the program", "", *(f"{at}. {why}" for at, why in enumerate(reasons, 1))]
