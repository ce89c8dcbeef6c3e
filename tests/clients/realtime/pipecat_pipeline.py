"""A pipecat pipeline around its OpenAI realtime service. Arguments and output as those of openai_sdk.py."""

import asyncio
import json
import sys
from pathlib import Path

from loguru import logger
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    CancelFrame,
    ErrorFrame,
    InputAudioRawFrame,
    LLMFullResponseEndFrame,
    LLMMessagesAppendFrame,
    LLMRunFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import WorkerRunner
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.realtime import events
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService

url, recording = sys.argv[1:]
question = Path(recording).read_bytes()
logger.remove()
logger.add(sys.stderr, level="WARNING")


class Ears(FrameProcessor):
    """Keeps what passes, and lets the test wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.transcript, self.words, self.sound = None, "", 0
        self.answers: asyncio.Queue = asyncio.Queue()
        self.sounding = asyncio.Event()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, TranscriptionFrame):
            self.transcript = frame.text
        elif isinstance(frame, TTSTextFrame):
            self.words += frame.text
        elif isinstance(frame, TTSAudioRawFrame):
            self.sound += len(frame.audio)
            self.sounding.set()
        elif isinstance(frame, ErrorFrame):
            print(frame.error, file=sys.stderr)
            await self.answers.put(None)
        elif isinstance(frame, LLMFullResponseEndFrame):
            await self.answers.put(self.words)
            self.words = ""
        await self.push_frame(frame, direction)


async def main():
    results = {}
    audio = events.AudioConfiguration(
        input=events.AudioInput(
            transcription=events.InputAudioTranscription(model="gpt-4o-transcribe", prompt="Names"),
            turn_detection=events.SemanticTurnDetection(eagerness="high"),
            noise_reduction=events.InputAudioNoiseReduction(type="near_field"),
        ),
        output=events.AudioOutput(voice="alloy"),
    )
    llm = OpenAIRealtimeLLMService(
        api_key="none",
        base_url=f"{url.replace('http', 'ws')}/v1/realtime?model=gpt-realtime",
        settings=OpenAIRealtimeLLMService.Settings(
            system_instruction="Be brief.", session_properties=events.SessionProperties(audio=audio)
        ),
    )

    async def weather(params):
        results["call"] = params.function_name
        await params.result_callback({"degrees": -4})

    llm.register_function("weather", weather)
    tools = ToolsSchema([FunctionSchema("weather", "The weather", properties={}, required=[])])
    context = LLMContext([{"role": "user", "content": "Hello"}], tools=tools)
    aggregators = LLMContextAggregatorPair(context)
    above, below = Ears(), Ears()
    pipeline = Pipeline([aggregators.user(), above, llm, below, aggregators.assistant()])
    worker = PipelineWorker(pipeline, cancel_on_idle_timeout=False)
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")
    async def _(worker, frame):
        started.set()

    async def speak():
        for at in range(0, len(question), 4800):
            await worker.queue_frame(InputAudioRawFrame(question[at : at + 4800], 24000, 1))

    async def say(words):
        # from below the user's aggregator, which would keep it from the service
        await above.push_frame(LLMMessagesAppendFrame([{"role": "user", "content": words}], run_llm=True))

    async def answered():
        """The words of the next answer that has some."""
        while (words := await below.answers.get()) == "":
            pass
        return words

    async def converse():
        await started.wait()
        await worker.queue_frame(LLMRunFrame())
        results["greeting"] = await answered()
        below.sound = 0
        await speak()
        results["spoken"] = {"words": await answered(), "heard": above.transcript, "sound": below.sound}

        below.sounding.clear()
        await say("Something long")
        await below.sounding.wait()
        await speak()
        results["interrupted"] = await answered()
        results["after"] = await answered()

        await say("The weather?")
        results["result"] = await answered()
        await worker.queue_frame(CancelFrame())

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await asyncio.wait_for(asyncio.gather(runner.run(), converse()), 100)
    print(json.dumps(results))


asyncio.run(main())
