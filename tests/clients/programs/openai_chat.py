"""The openai package, chat completions."""

import json

import openai
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


def models(client):
    return [model.id for model in client.models.list()]


def two_turns(client, MODEL):
    messages, turns = [], []
    for question in ("Hello", "And now?"):
        messages.append({"role": "user", "content": question})
        stream = client.chat.completions.create(model=MODEL, messages=messages, stream=True)
        turns.append([chunk.choices[0].delta.content for chunk in stream if chunk.choices[0].delta.content])
        messages.append({"role": "assistant", "content": "".join(turns[-1])})
    return turns


def tool(client, MODEL):
    messages, ran = [{"role": "user", "content": "What is the weather in Paris?"}], []
    for _ in range(3):
        reply = client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL]).choices[0].message
        if not reply.tool_calls:
            return {"ran": ran, "text": reply.content}
        messages.append(reply)
        for call in reply.tool_calls:
            ran.append(json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "Sunny"})
    return None


def structured(client, MODEL):
    messages = [{"role": "user", "content": "What is the weather in Paris?"}]
    reply = client.chat.completions.parse(model=MODEL, messages=messages, response_format=Weather)
    return reply.choices[0].message.parsed.model_dump()


def too_long(client):
    try:
        client.chat.completions.create(model="small", messages=[{"role": "user", "content": "Hello " * 5000}])
    except openai.BadRequestError as error:
        return f"{error.code}: {error.message}"
