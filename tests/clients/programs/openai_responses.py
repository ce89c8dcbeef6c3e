"""The openai package, responses: the server keeps the conversation."""

import json

import openai
from pydantic import BaseModel

TOOL = {
    "type": "function",
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}


class Weather(BaseModel):
    city: str
    degrees: int


def models(client):
    return [model.id for model in client.models.list()]


def two_turns(client, MODEL):
    turns, previous = [], None
    for question in ("Hello", "And now?"):
        pieces = []
        for event in client.responses.create(model=MODEL, input=question, previous_response_id=previous, stream=True):
            if event.type == "response.output_text.delta":
                pieces.append(event.delta)
            elif event.type == "response.completed":
                previous = event.response.id
        turns.append(pieces)
    return turns


def tool(client, MODEL):
    given, previous, ran = "What is the weather in Paris?", None, []
    for _ in range(3):
        reply = client.responses.create(model=MODEL, input=given, previous_response_id=previous, tools=[TOOL])
        calls = [item for item in reply.output if item.type == "function_call"]
        if not calls:
            return {"ran": ran, "text": reply.output_text}
        ran += [json.loads(call.arguments) for call in calls]
        given = [{"type": "function_call_output", "call_id": call.call_id, "output": "Sunny"} for call in calls]
        previous = reply.id
    return None


def structured(client, MODEL):
    reply = client.responses.parse(model=MODEL, input="What is the weather in Paris?", text_format=Weather)
    return reply.output_parsed.model_dump()


def too_long(client):
    try:
        client.responses.create(model="small", input="Hello " * 5000)
    except openai.BadRequestError as error:
        return f"{error.code}: {error.message}"
