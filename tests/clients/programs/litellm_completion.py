"""litellm: the same calls through four of its providers."""

import json

import litellm
from pydantic import BaseModel

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


class Weather(BaseModel):
    city: str
    degrees: int


def models(where):
    provider = where["model"].split("/")[0]
    return litellm.get_valid_models(
        check_provider_endpoint=True, custom_llm_provider=provider, api_base=where["api_base"], api_key="none"
    )


def two_turns(where):
    messages, turns = [], []
    for question in ("Hello", "And now?"):
        messages.append({"role": "user", "content": question})
        stream = litellm.completion(**where, messages=messages, stream=True)
        turns.append([chunk.choices[0].delta.content for chunk in stream if chunk.choices[0].delta.content])
        messages.append({"role": "assistant", "content": "".join(turns[-1])})
    return turns


def tool(where):
    messages, ran = [{"role": "user", "content": "What is the weather in Paris?"}], []
    for _ in range(3):
        reply = litellm.completion(**where, messages=messages, tools=[TOOL]).choices[0].message
        if not reply.tool_calls:
            return {"ran": ran, "text": reply.content}
        messages.append(reply.model_dump())
        for call in reply.tool_calls:
            ran.append(json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "Sunny"})
    return None


def structured(where):
    messages = [{"role": "user", "content": "What is the weather in Paris?"}]
    reply = litellm.completion(**where, messages=messages, response_format=Weather)
    return json.loads(reply.choices[0].message.content)


def too_long(where):
    small = where | {"model": where["model"].replace("weather", "small")}
    try:
        litellm.completion(**small, messages=[{"role": "user", "content": "Hello " * 5000}])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
