"""OpenAI's Agents SDK: its runner, a tool, and an output type."""

from agents import Agent, Runner, function_tool
from openai import BadRequestError
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    degrees: int


async def two_turns(model):
    turns, given = [], []
    for question in ("Hello", "And now?"):
        result = Runner.run_streamed(Agent(name="Grus", model=model), [*given, {"role": "user", "content": question}])
        events = [event.data async for event in result.stream_events() if event.type == "raw_response_event"]
        turns.append([event.delta for event in events if event.type == "response.output_text.delta"])
        given = result.to_input_list()
    return turns


async def tool(model):
    ran = []

    @function_tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        ran.append({"city": city})
        return "Sunny"

    result = await Runner.run(Agent(name="Grus", model=model, tools=[get_weather]), "What is the weather in Paris?")
    return {"ran": ran, "text": result.final_output}


async def structured(model):
    result = await Runner.run(Agent(name="Grus", model=model, output_type=Weather), "What is the weather in Paris?")
    return result.final_output.model_dump()


async def too_long(model):
    model.model = "small"
    try:
        await Runner.run(Agent(name="Grus", model=model), "Hello " * 5000)
    except BadRequestError as error:
        return f"{error.code}: {error.message}"
