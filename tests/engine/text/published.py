"""Chat templates as models were published with them, and small ones in the formats of models whose licence keeps theirs out."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "data" / "chat_templates"


def published() -> dict[str, str]:
    """All templates by name, and those of the folder that GRUS_CHAT_TEMPLATES names."""
    folders = [FOLDER, *([Path(more)] if (more := os.environ.get("GRUS_CHAT_TEMPLATES")) else [])]
    return {
        file.stem: file.read_text(encoding="utf-8") for folder in folders for file in sorted(folder.glob("*.jinja"))
    }


def template(name: str) -> str:
    return (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")


_OPEN = "{%- for m in messages %}"
_END = "{%- endfor %}"

LFM = (
    "{{- bos_token }}{%- if tools %}{{- '<|im_start|>system\\nList of tools: <|tool_list_start|>' + tools | tojson + "
    "'<|tool_list_end|><|im_end|>\\n' }}{% endif %}" + _OPEN + "{{- '<|im_start|>' + m.role + '\\n' }}"
    "{%- if m.role == 'tool' %}{{- '<|tool_response_start|>' + m.content + '<|tool_response_end|>' }}"
    "{%- else %}{{- m.content }}{% endif %}{{- '<|im_end|>\\n' }}"
    + _END + "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"
)  # fmt: skip
NEMOTRON = (
    "{%- if tools %}{{- '<SPECIAL_10>System\\n<AVAILABLE_TOOLS>' + tools | tojson + '</AVAILABLE_TOOLS>\\n' }}{% endif %}"
    + _OPEN + "{%- if m.role == 'assistant' %}{{- '<SPECIAL_11>Assistant\\n' + (m.content or '') }}"
    "{%- if m.tool_calls %}{{- '<TOOLCALL>[' }}{% for c in m.tool_calls %}{{- ', ' if not loop.first }}"
    "{{- '{\"name\": \"' + c.function.name + '\", \"arguments\": ' + c.function.arguments | tojson + '}' }}{% endfor %}"
    "{{- ']</TOOLCALL>' }}{% endif %}{{- '\\n<SPECIAL_12>\\n' }}"
    "{%- elif m.role == 'tool' %}{{- '<SPECIAL_11>User\\n<TOOL_RESPONSE>[' + m.content + ']</TOOL_RESPONSE>\\n' }}"
    "{%- else %}{{- '<SPECIAL_11>' + m.role | title + '\\n' + m.content + '\\n' }}{% endif %}"
    + _END + "{%- if add_generation_prompt %}{{- '<SPECIAL_11>Assistant\\n<think>\\n' }}{% endif %}"
)  # fmt: skip
COMMAND = (
    "{%- if tools %}{{- '<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>' + tools | tojson + '<|END_OF_TURN_TOKEN|>' }}{% endif %}"
    + _OPEN + "{{- '<|START_OF_TURN_TOKEN|>' + {'user': '<|USER_TOKEN|>', 'assistant': '<|CHATBOT_TOKEN|>'}"
    ".get(m.role, '<|SYSTEM_TOKEN|>') }}"
    "{%- if m.tool_calls %}{{- '<|START_ACTION|>[\\n    ' }}{% for c in m.tool_calls %}"
    "{{- ',\\n    ' if not loop.first }}{{- '{\"tool_call_id\": \"' ~ loop.index0 ~ '\", \"tool_name\": \"' + c.function.name "
    "+ '\", \"parameters\": ' + c.function.arguments | tojson + '}' }}{% endfor %}{{- '\\n]<|END_ACTION|>' }}"
    "{%- elif m.role == 'assistant' %}{{- '<|START_RESPONSE|>' + m.content + '<|END_RESPONSE|>' }}"
    "{%- elif m.role == 'tool' %}{{- '<|START_TOOL_RESULT|>' + m.content + '<|END_TOOL_RESULT|>' }}"
    "{%- else %}{{- m.content }}{% endif %}{{- '<|END_OF_TURN_TOKEN|>' }}"
    + _END + "{%- if add_generation_prompt %}{{- '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}"
    "{%- if not enable_thinking | default(true) %}{{- '<|START_THINKING|><|END_THINKING|>' }}{% endif %}{% endif %}"
)  # fmt: skip
MUSE = (
    "{%- if tools %}{{- '<|start|>system<|message|>Write <atem:function_calls>. ' + tools | tojson + '<|eot|>' }}{% endif %}"
    + _OPEN + "{%- if m.role == 'assistant' %}"
    "{%- if m.reasoning_content %}{{- '<|start|>assistant to=self<|message|>' + m.reasoning_content + '<|eom|>' }}{% endif %}"
    "{%- for c in m.tool_calls or [] %}{{- '<|start|>assistant to=' + c.function.name + '<|message|><atem:function_calls>\\n"
    "<atem:invoke name=\"' + c.function.name + '\">\\n' }}{% for k, v in c.function.arguments.items() %}"
    "{{- '<atem:parameter name=\"' + k + '\">' + (v if v is string else v | tojson) + '</atem:parameter>\\n' }}{% endfor %}"
    "{{- '</atem:invoke>\\n</atem:function_calls>' + ('<|eot|>' if loop.last else '<|eom|>') }}{% endfor %}"
    "{%- if not m.tool_calls %}{{- '<|start|>assistant to=user<|message|>' + m.content + '<|eot|>' }}{% endif %}"
    "{%- else %}{{- '<|start|>' + m.role + '<|message|>' + m.content + '<|eot|>' }}{% endif %}"
    + _END + "{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{% endif %}"
)  # fmt: skip
ERNIE = (
    "{{- '<|im_start|>system\\n<global_setting>\\nthink_mode=True\\n</global_setting>' }}"
    "{%- if tools %}{{- '<tool_list>\\n' + tools | tojson + '\\n</tool_list>' }}{% endif %}{{- '<|im_end|>\\n\\n' }}"
    + _OPEN + "{{- '<|im_start|>' + m.role + '\\n' }}"
    "{%- if m.role == 'assistant' %}{%- if m.content %}{{- '\\n<response>\\n' + m.content + '\\n</response>\\n' }}{% endif %}"
    "{%- for c in m.tool_calls or [] %}{{- '\\n<tool_call>\\n{\"name\": \"' + c.function.name + '\", \"arguments\": ' "
    "+ c.function.arguments | tojson + '}\\n</tool_call>\\n' }}{% endfor %}"
    "{%- elif m.role == 'tool' %}{{- '<tool_output>' + m.content + '</tool_output>' }}{% else %}{{- m.content }}{% endif %}"
    "{{- '<|im_end|>\\n\\n' }}" + _END
    + "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<think>\\n' }}{% endif %}"
)  # fmt: skip
GLM4 = (
    "[gMASK]<sop>{%- if tools %}{{- '<|system|>\\n# 可用工具' }}{% for t in tools %}{{- '\\n\\n## ' + t.function.name + '\\n\\n' "
    "+ t.function | tojson(indent=4) + '\\n在调用上述函数时，请使用 Json 格式表示调用的参数。' }}{% endfor %}{% endif %}"
    + _OPEN + "{%- if m.role == 'assistant' and m.metadata %}{{- '<|assistant|>' + m.metadata + '\\n' + m.content }}"
    "{%- elif m.role in ('system', 'user', 'assistant', 'observation') %}{{- '<|' + m.role + '|>\\n' + m.content }}{% endif %}"
    + _END + "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{% endif %}"
)  # fmt: skip
EXAONE = (
    "{%- if tools %}{{- '[|system|]\\n# Available Tools\\n' }}{% for t in tools %}{{- '<tool>' + t | tojson + '</tool>\\n' }}"
    "{% endfor %}{{- '[|endofturn|]\\n' }}{% endif %}"
    + _OPEN + "{{- '[|' + m.role + '|]\\n' }}{%- if m.role == 'assistant' %}{{- '<think>\\n\\n</think>\\n\\n' + (m.content or '') }}"
    "{%- for c in m.tool_calls or [] %}{{- '\\n' if not loop.first }}{{- '<tool_call>{\"name\": \"' + c.function.name "
    "+ '\", \"arguments\": ' + c.function.arguments | tojson + '}</tool_call>' }}{% endfor %}"
    "{%- elif m.role == 'tool' %}{{- '<tool_result>{\"result\": ' + m.content | tojson + '}</tool_result>' }}"
    "{%- else %}{{- m.content }}{% endif %}{{- '[|endofturn|]\\n' }}" + _END
    + "{%- if add_generation_prompt %}{{- '[|assistant|]\\n<think>\\n' }}{% endif %}"
)  # fmt: skip
