"""A session of livekit's agents over its OpenAI realtime model, without a room. Arguments and output as those of openai_sdk.py."""

import asyncio
import json
import sys
from pathlib import Path

from livekit import rtc
from livekit.agents import Agent, AgentSession, function_tool
from livekit.agents.voice import io
from livekit.plugins import openai

url, recording = sys.argv[1:]
question = Path(recording).read_bytes()
results = {}


class Microphone(io.AudioInput):
    def __init__(self):
        super().__init__(label="microphone")
        self.frames = asyncio.Queue()

    async def __anext__(self):
        return await self.frames.get()

    def speak(self):
        for at in range(0, len(question), 4800):
            piece = question[at : at + 4800]
            self.frames.put_nowait(rtc.AudioFrame(piece, 24000, 1, len(piece) // 2))


class Loudspeaker(io.AudioOutput):
    """Has played what it gets at once."""

    def __init__(self):
        super().__init__(label="loudspeaker", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=24000)
        self.sound, self.playing = 0, False

    async def capture_frame(self, frame):
        await super().capture_frame(frame)
        self.sound, self.playing = self.sound + 2 * frame.samples_per_channel, True

    def flush(self):
        super().flush()
        self.finished(interrupted=False)

    def clear_buffer(self):
        self.finished(interrupted=True)

    def finished(self, interrupted):
        if self.playing:
            self.playing = False
            self.on_playback_finished(playback_position=self.sound / 48000, interrupted=interrupted)


class Guide(Agent):
    def __init__(self):
        super().__init__(instructions="Be brief.")

    @function_tool
    async def weather(self):
        """The weather."""
        results["call"] = "weather"
        return "-4"


async def main():
    model = openai.realtime.RealtimeModel(base_url=f"{url}/v1", api_key="none", model="gpt-realtime", voice="marin")
    session, microphone, loudspeaker = AgentSession(llm=model), Microphone(), Loudspeaker()
    transcripts, answers = asyncio.Queue(), asyncio.Queue()

    @session.on("user_input_transcribed")
    def _(event):
        if event.is_final:
            transcripts.put_nowait(event.transcript)

    @session.on("conversation_item_added")
    def _(event):
        if event.item.role == "assistant" and event.item.text_content:
            answers.put_nowait(event.item.text_content)

    session.input.audio, session.output.audio = microphone, loudspeaker
    await session.start(Guide())
    microphone.speak()
    results["spoken"] = {"words": await answers.get(), "heard": await transcripts.get(), "sound": loudspeaker.sound}
    session.generate_reply(user_input="And again")
    results["after"] = await answers.get()
    session.generate_reply(user_input="The weather?")
    results["result"] = await answers.get()
    await session.aclose()
    print(json.dumps(results))


asyncio.run(asyncio.wait_for(main(), 100))
