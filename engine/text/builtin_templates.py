"""Chat templates of three families, for checkpoints that come without one (converted files, older repositories).

Each follows its family's published prompt format. None adds a system prompt that nobody wrote.
"""

from __future__ import annotations

from collections.abc import Callable

_QWEN_TOOLS = r"""
{%- set ns = namespace(system=none) %}
{%- if messages and messages[0].role == 'system' %}{% set ns.system = messages[0].content %}{% endif %}
{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if ns.system %}{{- ns.system + '\n\n' }}{% endif %}
    {{- '# Tools\n\nYou may call one or more functions to assist with the user query.\n\n' }}
    {{- 'You are provided with function signatures within <tools></tools> XML tags:\n<tools>' }}
    {%- for tool in tools %}{{- '\n' + (tool | tojson) }}{% endfor %}
    {{- '\n</tools>\n\nFor each function call, return a json object with function name and arguments within ' }}
    {{- '<tool_call></tool_call> XML tags:\n<tool_call>\n' }}
    {{- '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call><|im_end|>\n' }}
{%- elif ns.system is not none %}
    {{- '<|im_start|>system\n' + ns.system + '<|im_end|>\n' }}
{%- endif %}
"""

_QWEN_CALLS = r"""
    {%- for call in message.tool_calls or [] %}
        {%- set call = call.function if call.function else call %}
        {%- set arguments = call.arguments if call.arguments is string else (call.arguments | tojson) %}
        {%- if content or not loop.first %}{{- '\n' }}{% endif %}
        {{- '<tool_call>\n{"name": "' + call.name + '", "arguments": ' + arguments + '}\n</tool_call>' }}
    {%- endfor %}
"""

_QWEN_RESULTS = r"""
    {%- elif message.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{% endif %}
        {{- '\n<tool_response>\n' + content + '\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\n' }}{% endif %}
"""

# Qwen 2 and 2.5, and whatever else speaks ChatML
CHATML = (
    _QWEN_TOOLS
    + r"""
{%- for message in messages %}
    {%- set content = message.content or '' %}
    {%- if message.role == 'assistant' %}
    {{- '<|im_start|>assistant\n' + content }}
"""
    + _QWEN_CALLS
    + r"""
    {{- '<|im_end|>\n' }}
"""
    + _QWEN_RESULTS
    + r"""
    {%- elif not (message.role == 'system' and loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{% endif %}
"""
)

# Qwen 3: reasoning is shown to the model only for replies since the last question
QWEN3 = (
    _QWEN_TOOLS
    + r"""
{%- set ns.question = messages | length - 1 %}
{%- set ns.searching = true %}
{%- for message in messages[::-1] %}
    {%- set content = message.content if message.content is string else '' %}
    {%- set result = content.startswith('<tool_response>') and content.endswith('</tool_response>') %}
    {%- if ns.searching and message.role == 'user' and not result %}
        {%- set ns.searching = false %}
        {%- set ns.question = messages | length - 1 - loop.index0 %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content if message.content is string else '' %}
    {%- if message.role == 'assistant' %}
    {%- set reasoning = message.reasoning_content if message.reasoning_content is string else '' %}
    {%- if not reasoning and '</think>' in content %}
        {%- set reasoning = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
        {%- set content = content.split('</think>')[-1].lstrip('\n') %}
    {%- endif %}
    {{- '<|im_start|>assistant\n' }}
    {%- if loop.index0 > ns.question and (loop.last or reasoning) %}
        {{- '<think>\n' + reasoning.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
    {%- else %}
        {{- content }}
    {%- endif %}
"""
    + _QWEN_CALLS
    + r"""
    {{- '<|im_end|>\n' }}
"""
    + _QWEN_RESULTS
    + r"""
    {%- elif not (message.role == 'system' and loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{% endif %}
{%- endif %}
"""
)

# Llama 3.1 and later put tools into the first question; plain Llama 3 conversations come out the same
LLAMA3 = r"""
{{- bos_token }}
{%- set ns = namespace(tools_pending=tools) %}
{%- for message in messages %}
    {%- set role = 'ipython' if message.role in ['tool', 'ipython'] else message.role %}
    {{- '<|start_header_id|>' + role + '<|end_header_id|>\n\n' }}
    {%- if message.role == 'user' and ns.tools_pending %}
        {{- 'Given the following functions, please respond with a JSON for a function call with its proper ' }}
        {{- 'arguments that best answers the given prompt.\n\nRespond in the format {"name": function name, ' }}
        {{- '"parameters": dictionary of argument name and its value}. Do not use variables.\n\n' }}
        {%- for tool in ns.tools_pending %}{{- (tool | tojson(indent=4)) + '\n\n' }}{% endfor %}
        {%- set ns.tools_pending = none %}
    {%- endif %}
    {%- if message.tool_calls %}
        {%- for call in message.tool_calls %}
            {%- set call = call.function if call.function else call %}
            {%- set arguments = call.arguments if call.arguments is string else (call.arguments | tojson) %}
            {%- if not loop.first %}{{- '; ' }}{% endif %}
            {{- '{"name": "' + call.name + '", "parameters": ' + arguments + '}' }}
        {%- endfor %}
    {%- elif message.content is string %}
        {{- message.content | trim }}
    {%- else %}
        {{- message.content | tojson }}
    {%- endif %}
    {{- '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}
"""

_HUNYUAN = r"""
{%- set ns = namespace(system='') %}
{%- for message in messages if message.role == 'system' %}
    {%- set ns.system = ns.system + ('' if loop.first else '\n\n') + message.content %}
{%- endfor %}
{{- bos_token + ns.system }}
{%- if tools %}
    {{- ('\n\n' if ns.system else '') + '# Tools\n\nYou may call one or more functions to assist with the user query.' }}
    {{- '\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>\n' }}
    {%- for tool in tools %}{{- ('' if loop.first else '\n') + (tool | tojson) }}{% endfor %}
    {{- '\n</tools>\n\nFor function call returns, you should first print <tool_calls>' }}
    {{- 'For each function call, you should return object like:\n<tool_call>function_name\n```json\n' }}
    {{- 'function_arguments_in_json_format\n```</tool_call>' }}
    {{- 'At the end of function call returns, you should print </tool_calls>' }}
{%- endif %}
{%- if ns.system or tools %}{{- '@SYSTEM_END@' }}{% endif %}
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {{- '@USER@' + message.content + '@USER_END@' }}
    {%- elif message.role == 'tool' %}
        {%- if messages[loop.index0 - 1].role != 'tool' %}{{- '@USER@<tool_responses>' }}{% endif %}
        {{- '<tool_response>' + message.content + '</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '</tool_responses>@USER_END@' }}{% endif %}
    {%- elif message.role == 'assistant' %}
        {%- set content = message.content or '' %}
        {%- if '<answer>' in content %}
            {%- set content = content.split('<answer>')[-1].split('</answer>')[0].strip('\n') %}
        {%- elif '</think>' in content %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {{- '@ASSISTANT@' + content }}
        {%- if message.tool_calls %}
            {{- '<tool_calls>' }}
            {%- for call in message.tool_calls %}
                {%- set call = call.function if call.function else call %}
                {%- set arguments = call.arguments if call.arguments is string else (call.arguments | tojson) %}
                {{- '<tool_call>' + call.name + '\n```json\n' + arguments + '\n```</tool_call>' }}
            {%- endfor %}
            {{- '</tool_calls>' }}
        {%- endif %}
        {{- eos_token }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '@ASSISTANT@' }}
    {%- if enable_thinking is defined and not enable_thinking %}{{- '<think>\n\n</think>\n' }}{% endif %}
{%- endif %}
"""


def _hunyuan(user: str, user_end: str, assistant: str, system_end: str) -> str:
    marks = {"@USER@": user, "@USER_END@": user_end, "@ASSISTANT@": assistant, "@SYSTEM_END@": system_end}
    source = _HUNYUAN
    for mark, token in marks.items():
        source = source.replace(mark, token)
    return source


# the small dense models open each turn with a token of its own; the larger ones end the user's turn with one
HUNYUAN = _hunyuan("<｜hy_User｜>", "", "<｜hy_Assistant｜>", "<｜hy_place▁holder▁no▁3｜>")
HUNYUAN_EXTRA = _hunyuan("", "<|extra_0|>", "", "<|extra_4|>")


# Prompts of DeepSeek-OCR are the places of pictures and words, without roles
_PLACES_AND_WORDS = """\
{%- for message in messages %}
    {%- if message.content is string %}
        {{- message.content }}
    {%- else %}
        {%- for part in message.content %}
            {{- '<image>%s' if part.type == 'image' else part.text }}
        {%- endfor %}
    {%- endif %}
{%- endfor %}"""
DEEPSEEK_OCR = _PLACES_AND_WORDS.replace("%s", "\\n")
UNLIMITED_OCR = _PLACES_AND_WORDS.replace("%s", "")


# Mistral's version 7. `[AUDIO]` is the place of a sound
_VOXTRAL = r"""
{{- bos_token }}
{%- macro said(content) %}
    {%- if content is string %}{{- content }}
    {%- else %}
        {%- for part in content %}{{- '[AUDIO]' if part.type == 'audio' else part.text }}{% endfor %}
    {%- endif %}
{%- endmacro %}
{%- set ns = namespace(question=-1) %}
{%- for message in messages if message.role == 'user' %}{% set ns.question = ns.question + 1 %}{% endfor %}
{%- set ns.asked = -1 %}
{%- for message in messages %}
    {%- if message.role == 'system' %}{{- '[SYSTEM_PROMPT]' + said(message.content) + '[/SYSTEM_PROMPT]' }}
    {%- elif message.role == 'user' %}
        {%- set ns.asked = ns.asked + 1 %}
        {%- if tools and ns.asked == ns.question %}
            {{- '[AVAILABLE_TOOLS]' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}
        {%- endif %}
        {{- '[INST]' + said(message.content) + '[/INST]' }}
    {%- elif message.role == 'assistant' %}
        {%- if message.content %}{{- said(message.content) }}{% endif %}
        {%- for call in message.tool_calls or [] %}
            {%- set function = call.function if call.function else call %}
            {%- set arguments = function.arguments if function.arguments is string else (function.arguments | tojson) %}
            {{- '[TOOL_CALLS][' if loop.first else ', ' }}
            {{- '{"name": "' + function.name + '", "arguments": ' + arguments + ', "id": "' + call.id + '"}' }}
            {{- ']' if loop.last }}
        {%- endfor %}
        {{- eos_token }}
    {%- elif message.role == 'tool' %}
        {{- '[TOOL_RESULTS]' + message.tool_call_id + '[TOOL_CONTENT]' + message.content + '[/TOOL_RESULTS]' }}
    {%- endif %}
{%- endfor %}"""


def builtin_template(model_type: str, id_of: Callable[[str], int | None]) -> str | None:
    """The template of a family whose control tokens the vocabulary has; None where nothing fits."""

    def has(token: str) -> bool:
        return id_of(token) is not None

    if model_type == "deepseek_ocr2":
        return DEEPSEEK_OCR
    if model_type == "unlimited_ocr":
        return UNLIMITED_OCR
    if model_type == "voxtral":
        return _VOXTRAL if has("[INST]") else None
    if has("<｜hy_User｜>"):
        return HUNYUAN
    if model_type.startswith("hunyuan") and has("<|extra_0|>"):
        return HUNYUAN_EXTRA
    if has("<|start_header_id|>") and has("<|eot_id|>"):
        return LLAMA3
    if has("<|im_start|>"):
        return QWEN3 if model_type.startswith("qwen3") else CHATML
    return None
