"""instructor: objects of a class, in each of the ways that it can ask for them."""

import instructor
from openai import OpenAI
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    degrees: int


def structured(client, MODEL):
    messages = [{"role": "user", "content": "What is the weather in Paris?"}]
    got = []
    for mode in (None, instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA, instructor.Mode.JSON):
        asked = client
        if mode is not None:
            asked = instructor.from_openai(OpenAI(base_url=client.client.base_url, api_key="none"), mode=mode)
        got.append(asked.create(model=MODEL, response_model=Weather, messages=messages, max_retries=0).model_dump())
    *_, streamed = client.create_partial(model=MODEL, response_model=Weather, messages=messages, max_retries=0)
    assert [type(one["degrees"]) for one in got] == [int] * 4, got
    return streamed.model_dump()


def too_long(client):
    try:
        messages = [{"role": "user", "content": "Hello " * 5000}]
        client.create(model="small", response_model=Weather, messages=messages, max_retries=0)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
