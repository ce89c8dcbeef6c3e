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
    turns, generate_stream = [], backend.generate_stream

    def recorded(*given, **named):  # `text_iter` joins the pieces that have come since it was last asked
        turns.append([])
        for text, meta in generate_stream(*given, **named):
            turns[-1].append(text)
            yield text, meta

    backend.generate_stream = recorded
    state = talk.run(stream=True)
    for at in range(2):
        assert "".join(state.text_iter(f"answer {at}")) == "".join(turns[at])
    return turns


def structured(backend):
    return json.loads(weather.run()["weather"])
