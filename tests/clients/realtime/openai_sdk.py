"""The openai package in a realtime session. Arguments: the server's URL, and a question as PCM at 24 kHz. Prints what happened."""

import base64
import json
import sys
from pathlib import Path

import openai

url, recording = sys.argv[1:]
question = Path(recording).read_bytes()
client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
results = {}

with client.realtime.connect(model="gpt-realtime") as connection:

    def speak():
        for at in range(0, len(question), 4800):
            connection.input_audio_buffer.append(audio=base64.b64encode(question[at : at + 4800]).decode())

    def ask(words):
        content = [{"type": "input_text", "text": words}]
        connection.conversation.item.create(item={"type": "message", "role": "user", "content": content})
        connection.response.create()

    def answered(first_audio=False):
        """The transcript, the words, the bytes of sound and the response."""
        transcript, words, sound = None, "", 0
        for event in connection:
            if event.type == "error":
                raise SystemExit(event.error.message)
            if event.type == "conversation.item.input_audio_transcription.completed":
                transcript = event.transcript
            elif event.type == "response.output_audio_transcript.delta":
                words += event.delta
            elif event.type == "response.output_audio.delta":
                sound += len(base64.b64decode(event.delta))
                if first_audio:
                    return transcript, words, sound, event
            elif event.type == "response.done":
                return transcript, words, sound, event.response
        raise SystemExit("the connection ended")

    connection.session.update(
        session={
            "type": "realtime",
            "model": "gpt-realtime",
            "instructions": "Be brief.",
            "output_modalities": ["audio"],
            "audio": {
                "input": {
                    "format": {"type": "audio/pcm", "rate": 24000},
                    "noise_reduction": {"type": "near_field"},
                    "transcription": {"model": "gpt-4o-mini-transcribe", "prompt": "Names"},
                    "turn_detection": {"type": "semantic_vad", "eagerness": "high"},
                },
                "output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "marin"},
            },
            "tools": [{"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}}],
            "tool_choice": "auto",
            "tracing": "auto",
        }
    )
    speak()
    transcript, words, sound, _ = answered()
    results["spoken"] = {"heard": transcript, "words": words, "sound": sound}

    ask("Something long")
    first = answered(first_audio=True)[3]
    speak()
    cut = answered()[3]
    results["interrupted"] = [cut.status, cut.status_details.reason]
    connection.conversation.item.truncate(item_id=first.item_id, content_index=0, audio_end_ms=1)
    results["after"] = answered()[1]

    ask("The weather?")
    call = answered()[3].output[0]
    results["call"] = call.name
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "-4"}
    connection.conversation.item.create(item=output)
    connection.response.create()
    results["result"] = answered()[1]

    connection.session.update(session={"type": "realtime", "output_modalities": ["text"]})
    ask("In words")
    results["text"] = answered()[3].output[0].content[0].text

print(json.dumps(results))
