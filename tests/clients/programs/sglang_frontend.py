"""SGLang's frontend: its language of functions, run by a server."""

import json

import sglang
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    degrees: int


@sglang.function
def talk(s):
    for at, question in enumerate(("Hello", "And now?")):
        s += sglang.user(question) + sglang.assistant(sglang.gen(f"answer {at}", max_tokens=200))


@sglang.function
def weather(s):
    s += sglang.user("What is the weather in Paris?")
    s += sglang.assistant(sglang.gen("weather", max_tokens=200, json_schema=json.dumps(Weather.model_json_schema())))


def two_turns(backend):
    state = talk.run(stream=True)
    return [[piece for piece in state.text_iter(f"answer {at}") if piece] for at in range(2)]


def structured(backend):
    return json.loads(weather.run()["weather"])
