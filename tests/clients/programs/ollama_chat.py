"""The ollama package."""

import json

import ollama
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    degrees: int


def get_weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: The name of the city
    """
    return "Sunny"


def models(client):
    return [model.model for model in client.list().models]


def two_turns(client, MODEL):
    messages, turns = [], []
    for question in ("Hello", "And now?"):
        messages.append({"role": "user", "content": question})
        stream = client.chat(model=MODEL, messages=messages, stream=True)
        turns.append([part.message.content for part in stream if part.message.content])
        messages.append({"role": "assistant", "content": "".join(turns[-1])})
    return turns


def tool(client, MODEL):
    messages, ran = [{"role": "user", "content": "What is the weather in Paris?"}], []
    for _ in range(3):
        reply = client.chat(model=MODEL, messages=messages, tools=[get_weather]).message
        messages.append(reply)
        if not reply.tool_calls:
            return {"ran": ran, "text": reply.content}
        for call in reply.tool_calls:
            ran.append(dict(call.function.arguments))
            result = get_weather(**call.function.arguments)
            messages.append({"role": "tool", "content": result, "tool_name": call.function.name})
    return None


def structured(client, MODEL):
    messages = [{"role": "user", "content": "What is the weather in Paris?"}]
    return json.loads(client.chat(model=MODEL, messages=messages, format=Weather.model_json_schema()).message.content)


def too_long(client):
    try:
        client.chat(model="small", messages=[{"role": "user", "content": "Hello " * 5000}])
    except ollama.ResponseError as error:
        return f"{error.status_code}: {error.error}"
