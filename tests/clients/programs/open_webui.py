"""Open WebUI: the requests of its page, to the server that its lines start."""

import json
import time
import uuid

import httpx

TOOL = """
class Tools:
    def get_weather(self, city: str) -> str:
        \"\"\"The weather in a city.\"\"\"
        return "Sunny"
"""
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}


def connected(port):
    for _ in range(3000):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200:
                break
        except httpx.HTTPError:
            time.sleep(0.1)
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}/api", timeout=120)
    user = client.post("/v1/auths/signin", json={"email": "", "password": ""}).raise_for_status().json()
    client.headers["Authorization"] = f"Bearer {user['token']}"
    return client


def chosen(client, model):
    """The page's name for a model: one from Ollama's protocol has `:latest` behind it."""
    names = [listed["id"] for listed in client.get("/models").raise_for_status().json()["data"]]
    return next(name for name in names if name.split(":")[0] == model)


def sent(client, **body):
    return client.post("/chat/completions", json=body).raise_for_status().json()


def in_a_chat(client, model, text, **more):
    """A message of a new chat, as the page sends it: the answer is written into the stored chat."""
    model = chosen(client, model)
    question, answer = str(uuid.uuid4()), str(uuid.uuid4())
    asked = {"id": question, "parentId": None, "role": "user", "content": text, "timestamp": 0, "models": [model]}
    new = {"parent_id": None, "id": answer, "session_id": "page", "user_message": asked, "stream": True}
    chat = sent(client, model=model, messages=[{"role": "user", "content": text}], **new, **more)["chat_id"]
    for _ in range(1000):
        message = client.get(f"/v1/chats/{chat}").raise_for_status().json()["chat"]["history"]["messages"][answer]
        if message.get("done") or message.get("error"):
            return message
        time.sleep(0.1)
    return None


def connects(port, MODEL):
    return in_a_chat(connected(port), MODEL, "Hello")["content"]


def models(port):
    return [model["id"] for model in connected(port).get("/models").json()["data"]]


def two_turns(port, MODEL):
    client, messages, turns = connected(port), [], []
    model = chosen(client, MODEL)
    for question in ("Hello", "And now?"):
        messages.append({"role": "user", "content": question})
        asked = {"model": model, "messages": messages, "stream": True}
        with client.stream("POST", "/chat/completions", json=asked) as reply:
            chunks = [line.removeprefix("data: ") for line in reply.iter_lines() if line.startswith("data: {")]
        deltas = [choice["delta"] for chunk in map(json.loads, chunks) for choice in chunk["choices"]]
        turns.append([delta["content"] for delta in deltas if delta.get("content")])
        messages.append({"role": "assistant", "content": "".join(turns[-1])})
    return turns


def tool(port, MODEL):
    client = connected(port)
    weather = {"id": "weather", "name": "weather", "content": TOOL, "meta": {"description": "The weather"}}
    client.post("/v1/tools/create", json=weather).raise_for_status()
    message = in_a_chat(client, MODEL, "What is the weather in Paris?", tool_ids=["weather"])
    output = message["output"]
    results = [item["output"] for item in output if item["type"] == "function_call_output"]
    assert [[part["text"] for part in result] for result in results] == [["Sunny"]], output
    ran = [json.loads(item["arguments"]) for item in output if item["type"] == "function_call"]
    return {"ran": ran, "text": message["content"]}


def structured(port, MODEL):
    client = connected(port)
    wanted = {"type": "json_schema", "json_schema": {"name": "weather", "strict": True, "schema": SCHEMA}}
    messages = [{"role": "user", "content": "What is the weather in Paris?"}]
    reply = sent(client, model=chosen(client, MODEL), messages=messages, response_format=wanted)
    return json.loads(reply["choices"][0]["message"]["content"])


def too_long(port):
    return in_a_chat(connected(port), "small", "Hello " * 5000)["error"]["content"]
