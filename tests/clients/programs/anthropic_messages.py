"""The anthropic package."""

import anthropic
from pydantic import BaseModel

TOOL = {
    "name": "get_weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
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
        with client.messages.stream(model=MODEL, max_tokens=200, messages=messages) as stream:
            turns.append(list(stream.text_stream))
            messages.append({"role": "assistant", "content": stream.get_final_message().content})
    return turns


def tool(client, MODEL):
    messages, ran = [{"role": "user", "content": "What is the weather in Paris?"}], []
    for _ in range(3):
        reply = client.messages.create(model=MODEL, max_tokens=200, messages=messages, tools=[TOOL])
        messages.append({"role": "assistant", "content": reply.content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return {"ran": ran, "text": reply.content[0].text}
        ran += [call.input for call in calls]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "Sunny"} for call in calls]
        messages.append({"role": "user", "content": results})
    return None


def structured(client, MODEL):
    messages = [{"role": "user", "content": "What is the weather in Paris?"}]
    reply = client.messages.parse(model=MODEL, max_tokens=200, messages=messages, output_format=Weather)
    return reply.parsed_output.model_dump()


def too_long(client):
    try:
        client.messages.create(model="small", max_tokens=20, messages=[{"role": "user", "content": "Hello " * 5000}])
    except anthropic.BadRequestError as error:
        return f"{error.type}: {error.message}"
