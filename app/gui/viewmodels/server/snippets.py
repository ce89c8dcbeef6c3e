"""How other programs are told of the server: text to copy, for each of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

Write = Callable[[str, str, str], str]


@dataclass(frozen=True)
class Snippet:
    """`write(address, key, model)`; `where` is the file that it belongs into, if there is one."""

    name: str
    where: str
    write: Write


def _curl(address: str, key: str, model: str) -> str:
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello"}]})
    who = f"  -H 'Authorization: Bearer {key}' \\\n" if key else ""
    return f"curl {address}/v1/chat/completions \\\n{who}  -H 'Content-Type: application/json' \\\n  -d '{body}'"


def _python(address: str, key: str, model: str) -> str:
    return f"""from openai import OpenAI

client = OpenAI(base_url="{address}/v1", api_key="{key}")
stream = client.chat.completions.create(
    model="{model}",
    messages=[{{"role": "user", "content": "Hello"}}],
    stream=True,
)
for piece in stream:
    print(piece.choices[0].delta.content or "", end="", flush=True)"""


def _realtime(address: str, key: str, model: str) -> str:
    return f"""# a spoken question and its answer: question.wav is recorded with 16 bits, one channel, 24,000 samples a second
import base64
import wave

from openai import OpenAI

client = OpenAI(base_url="{address}/v1", api_key="{key}")
with wave.open("question.wav") as file:
    question = file.readframes(file.getnframes()) + bytes(48_000)  # a second of silence: the question is over

with client.realtime.connect(model="{model}") as talk, wave.open("answer.wav", "wb") as answer:
    answer.setparams((1, 2, 24_000, 0, "NONE", ""))
    for at in range(0, len(question), 4800):
        talk.input_audio_buffer.append(audio=base64.b64encode(question[at : at + 4800]).decode())
    for event in talk:
        if event.type == "response.output_audio_transcript.delta":
            print(event.delta, end="", flush=True)
        elif event.type == "response.output_audio.delta":
            answer.writeframes(base64.b64decode(event.delta))
        elif event.type == "error":
            raise SystemExit(event.error.message)
        elif event.type == "response.done":
            break"""


def _continue(address: str, key: str, model: str) -> str:
    return f"""name: Grus
version: 1.0.0
schema: v1
models:
  - name: {model}
    provider: openai
    model: {model}
    apiBase: {address}/v1
    apiKey: {key}
    roles: [chat, edit, apply]"""


def _zed(address: str, key: str, model: str) -> str:
    told = {
        "language_models": {
            "openai_compatible": {
                "Grus": {
                    "api_url": f"{address}/v1",
                    "available_models": [{"name": model, "display_name": model, "max_tokens": 32768}],
                }
            }
        }
    }
    return json.dumps(told, indent=2) + f'\n// and the key, in the shell that starts Zed: export GRUS_API_KEY="{key}"'


def _neovim(address: str, key: str, model: str) -> str:
    return f"""require("codecompanion").setup({{
  adapters = {{
    http = {{
      grus = function()
        return require("codecompanion.adapters").extend("openai_compatible", {{
          env = {{ url = "{address}", api_key = "{key}" }},
          schema = {{ model = {{ default = "{model}" }} }},
        }})
      end,
    }},
  }},
  strategies = {{ chat = {{ adapter = "grus" }}, inline = {{ adapter = "grus" }} }},
}})"""


def _claude(address: str, key: str, model: str) -> str:
    return f'export ANTHROPIC_BASE_URL="{address}"\nexport ANTHROPIC_AUTH_TOKEN="{key}"\nexport ANTHROPIC_MODEL="{model}"\nclaude'


def _ollama(address: str, key: str, model: str) -> str:
    return f'export OLLAMA_HOST="{address}"\nollama run "{model}"'


SNIPPETS = (
    Snippet("curl", "", _curl),
    Snippet("Python", "pip install openai", _python),
    Snippet("Python, Realtime", "pip install 'openai[realtime]'", _realtime),
    Snippet("VS Code, Continue", "~/.continue/config.yaml", _continue),
    Snippet("Zed", "settings.json", _zed),
    Snippet("Neovim, CodeCompanion", "init.lua", _neovim),
    Snippet("Claude Code", "", _claude),
    Snippet("Ollama", "", _ollama),
)


def written(name: str, address: str, key: str, model: str) -> str:
    """With placeholders for what is not there yet: clients' libraries insist on a key, curl does not."""
    snippet = next(snippet for snippet in SNIPPETS if snippet.name == name)
    needed = key if snippet.name == "curl" else key or "none"
    return snippet.write(address or "http://127.0.0.1:8080", needed, model or "MODEL")
