"""LlamaIndex: its language models, and an agent of its own."""

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    degrees: int


def two_turns(llm):
    messages, turns = [], []
    for question in ("Hello", "And now?"):
        messages.append(ChatMessage(role="user", content=question))
        turns.append([piece.delta for piece in llm.stream_chat(messages) if piece.delta])
        messages.append(ChatMessage(role="assistant", content="".join(turns[-1])))
    return turns


async def tool(llm):
    ran = []

    def get_weather(city: str) -> str:
        """The weather in a city."""
        ran.append({"city": city})
        return "Sunny"

    answer = await FunctionAgent(tools=[get_weather], llm=llm).run("What is the weather in Paris?")
    return {"ran": ran, "text": str(answer)}


def structured(llm):
    return llm.as_structured_llm(Weather).complete("What is the weather in Paris?").raw.model_dump()


def too_long(llm):
    llm.model = "small"
    try:
        llm.complete("Hello " * 5000)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
