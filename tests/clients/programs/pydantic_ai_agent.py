"""pydantic-ai: an agent, with and without an output type."""

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.exceptions import ModelHTTPError


class Weather(BaseModel):
    city: str
    degrees: int


async def two_turns(agent):
    turns, history = [], []
    for question in ("Hello", "And now?"):
        async with agent.run_stream(question, message_history=history) as result:
            turns.append([piece async for piece in result.stream_text(delta=True, debounce_by=None)])
            history = result.all_messages()
    return turns


async def tool(agent):
    ran = []

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """The weather in a city."""
        ran.append({"city": city})
        return "Sunny"

    result = await agent.run("What is the weather in Paris?")
    return {"ran": ran, "text": result.output}


async def structured(agent):
    result = await Agent(agent.model, output_type=NativeOutput(Weather)).run("What is the weather in Paris?")
    return result.output.model_dump()


async def too_long(agent):
    small = type(agent.model)("small", provider=agent.model._provider)
    try:
        await Agent(small).run("Hello " * 5000)
    except ModelHTTPError as error:
        return f"ModelHTTPError {error.status_code}: {error.body}"
