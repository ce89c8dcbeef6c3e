"""LangChain: an agent, streams and structured output of its chat models."""

from langchain.agents import create_agent
from langchain.messages import AIMessage, HumanMessage
from langchain_core.exceptions import ContextOverflowError
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    degrees: int


def two_turns(model):
    messages, turns = [], []
    for question in ("Hello", "And now?"):
        messages.append(HumanMessage(question))
        turns.append([piece.text for piece in model.stream(messages) if piece.text])
        messages.append(AIMessage("".join(turns[-1])))
    return turns


def tool(model):
    ran = []

    def get_weather(city: str) -> str:
        """The weather in a city."""
        ran.append({"city": city})
        return "Sunny"

    agent = create_agent(model, tools=[get_weather])
    result = agent.invoke({"messages": [{"role": "user", "content": "What is the weather in Paris?"}]})
    return {"ran": ran, "text": result["messages"][-1].text}


def structured(model):
    return model.with_structured_output(Weather).invoke("What is the weather in Paris?").model_dump()


def too_long(model):
    name = "model_name" if hasattr(model, "model_name") else "model"
    small = model.model_copy(update={name: "small"})
    try:
        small.invoke("Hello " * 5000)
    except ContextOverflowError as error:
        return f"ContextOverflowError: {error}"
