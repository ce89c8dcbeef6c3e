"""The beta of the openai package's realtime client. Arguments and output as those of openai_sdk.py."""

import base64
import json
import sys
from pathlib import Path

import openai

url, recording = sys.argv[1:]
question = Path(recording).read_bytes()
socket = f"{url.replace('http', 'ws')}/v1"  # else it asks for TLS
client = openai.OpenAI(base_url=f"{url}/v1", websocket_base_url=socket, api_key="none", max_retries=0)
results = {}

with client.beta.realtime.connect(model="gpt-4o-realtime-preview") as connection:

    def answered():
        """The transcript, the words, the bytes of sound and the response."""
        transcript, words, sound = None, "", 0
        for event in connection:
            if event.type == "error":
                raise SystemExit(event.error.message)
            if event.type == "conversation.item.input_audio_transcription.completed":
                transcript = event.transcript
            elif event.type in ("response.audio_transcript.delta", "response.text.delta"):
                words += event.delta
            elif event.type == "response.audio.delta":
                sound += len(base64.b64decode(event.delta))
            elif event.type == "response.done":
                return {"heard": transcript, "words": words, "sound": sound}, event.response
        raise SystemExit("the connection ended")

    connection.session.update(
        session={
            "modalities": ["text", "audio"],
            "voice": "alloy",
            "input_audio_format": "pcm16",
            "output_audio_format": "pcm16",
            "input_audio_transcription": {"model": "whisper-1"},
            "turn_detection": {"type": "server_vad", "threshold": 0.5, "silence_duration_ms": 400},
            "tools": [{"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}}],
            "temperature": 0.8,
            "max_response_output_tokens": "inf",
        }
    )
    for at in range(0, len(question), 4800):
        connection.input_audio_buffer.append(audio=base64.b64encode(question[at : at + 4800]).decode())
    results["spoken"] = answered()[0]

    content = [{"type": "input_text", "text": "The weather?"}]
    connection.conversation.item.create(item={"type": "message", "role": "user", "content": content})
    connection.response.create(response={"modalities": ["text"]})
    call = answered()[1].output[0]
    results["call"] = call.name
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "-4"}
    connection.conversation.item.create(item=output)
    connection.response.create(response={"modalities": ["text"]})
    results["result"] = answered()[0]["words"]

print(json.dumps(results))
