"""Realtime sessions with tiny models: transcribed, answered, spoken, interrupted; one and several at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest
import soxr

from app.server.realtime.audio import as_text
from app.server.realtime.protocol import AudioFormat
from tests.app.server.live import Live
from tests.app.server.realtime.caller import Caller, calling, kinds, of, pcm, sound, text
from tests.app.server.scripted import until
from tests.engine.pipelines.listening.conftest import silence, talk, voice
from tests.needs import no_kernels

LONG = " ".join(f"This is sentence number {n}, and it is not a short one." for n in range(200))
QUESTION = np.concatenate([silence(0.5), voice(1.0), silence(0.8)])
VOICE = {"audio": {"output": {"voice": "eric"}}, "seed": 3}
MANUAL = {"input": {"turn_detection": None}}


@pytest.fixture
def caller(talking: Live) -> Iterator[Caller]:
    with calling(talking, model="scripted") as caller:
        caller.update(**VOICE)
        yield caller


def prompt(live: Live, at: int = -1) -> str:
    return str(live.service.loaded["scripted"].tokenizer.decode(live.engine.script.requests[at].prompt_ids))


def quiet(live: Live) -> None:
    """Nothing is made for anybody any more, and nobody waits for it."""
    until(lambda: live.service.stats()["active"] == 0, 10)
    until(lambda: not live.engine.script.running)


# -- one conversation


def test_what_is_said_is_heard_answered_and_spoken(talking: Live) -> None:
    """With a model that makes its answer itself."""
    with calling(talking, model="text") as caller:
        caller.update(**VOICE, instructions="Be brief.", max_output_tokens=24, temperature=0.0)
        caller.speak(QUESTION)
        events = caller.until("response.done")
    assert kinds(events) == [
        "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
        "conversation.item.added", "conversation.item.done",
        "conversation.item.input_audio_transcription.delta", "conversation.item.input_audio_transcription.completed",
        "response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
        "response.output_audio_transcript.delta", "response.output_audio.delta", "response.output_audio.done",
        "response.output_audio_transcript.done", "response.content_part.done", "conversation.item.done",
        "response.output_item.done", "response.done",
    ]  # fmt: skip
    started, stopped, committed = events[:3]
    assert started["item_id"] == stopped["item_id"] == committed["item_id"]
    assert started["audio_start_ms"] == pytest.approx(200, abs=200)  # 300 milliseconds before the speech
    assert stopped["audio_end_ms"] == pytest.approx(1500, abs=300)
    (transcription,) = of(events, "conversation.item.input_audio_transcription.completed")
    assert transcription["transcript"]
    assert transcription["usage"]["seconds"] == pytest.approx(
        (stopped["audio_end_ms"] - started["audio_start_ms"]) / 1000, abs=0.01
    )
    done = events[-1]["response"]
    assert (done["status"], done["status_details"]["reason"]) == ("incomplete", "max_output_tokens")
    assert done["usage"]["output_tokens"] == 24
    assert len(sound(events)) > 4800
    said = "".join(event["delta"] for event in of(events, "response.output_audio_transcript.delta"))
    assert done["output"][0]["content"] == [{"type": "output_audio", "transcript": said}]


def test_the_answer_is_spoken_while_it_is_written(caller: Caller, talking: Live) -> None:
    talking.engine.script.reply, talking.engine.script.pause = "First. " + "Second is longer. " * 4, 0.02
    caller.say("Hi")
    caller.send("response.create")
    caller.until("response.output_audio.delta")
    assert talking.engine.script.running == 1
    done = caller.until("response.done")[-1]["response"]
    assert done["output"][0]["content"][0]["transcript"] == "First. " + " ".join(["Second is longer."] * 4)


def test_the_same_seed_says_the_same_in_the_same_voice(caller: Caller) -> None:
    caller.say("Hi")
    sounds = []
    for _ in range(2):
        caller.send("response.create", response={"conversation": "none"})
        sounds.append(sound(caller.until("response.done")))
    assert sounds[0] == sounds[1]
    caller.send("response.create", response={"audio": {"output": {"voice": "dylan"}}})
    assert sound(caller.until("response.done")) != sounds[0]


def test_a_voice_that_there_is_not(caller: Caller) -> None:
    update = {"type": "realtime", "audio": {"output": {"voice": "nobody"}}}
    error = caller.error("session.update", session=update, event_id="mine")
    assert (error["param"], error["event_id"]) == ("voice", "mine")
    assert "no voice 'nobody'" in error["message"]
    assert caller.update()["audio"]["output"]["voice"] == "eric"
    update = {"type": "realtime", "audio": {"input": {"transcription": {"language": "de"}}}}
    assert "transcribes 'en'" in caller.error("session.update", session=update)["message"]


def test_without_a_voice_by_name_the_model_s_first_answers(talking: Live) -> None:
    with calling(talking, model="scripted") as caller:
        caller.say("Hi")
        caller.send("response.create")
        assert sound(caller.until("response.done"))


def test_words_and_calls_in_one_answer(caller: Caller, talking: Live) -> None:
    talking.engine.script.reply = 'Let me look. <tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call>'
    caller.say("The weather?")
    caller.send("response.create", response={"tools": [{"type": "function", "name": "weather"}]})
    events = caller.until("response.done")
    message, call = events[-1]["response"]["output"]
    assert message["content"][0]["transcript"] == "Let me look."
    assert (call["name"], call["status"]) == ("weather", "completed")
    assert len(sound(events)) > 2000


# -- turns


def test_whoever_commits_asks_when_they_like(caller: Caller, talking: Live) -> None:
    caller.update(audio=MANUAL)
    caller.speak(QUESTION)
    committed = caller.ask("input_audio_buffer.commit", "input_audio_buffer.committed")
    caller.send("response.create")  # before it is written down
    events = caller.until("response.done")
    order = kinds(events)
    assert order.index("conversation.item.input_audio_transcription.completed") < order.index(
        "response.output_item.added"
    )
    (transcription,) = of(events, "conversation.item.input_audio_transcription.completed")
    assert transcription["item_id"] == committed["item_id"]
    assert talking.service.loaded["scripted"].tokenizer.encode(transcription["transcript"], add_special=False)
    assert "user" in prompt(talking)
    assert caller.error("input_audio_buffer.commit")["code"] == "input_audio_buffer_commit_empty"
    caller.speak(QUESTION)
    caller.ask("input_audio_buffer.clear", "input_audio_buffer.cleared")
    assert caller.error("input_audio_buffer.commit")["code"] == "input_audio_buffer_commit_empty"


def test_silence_that_is_committed_says_nothing(caller: Caller) -> None:
    caller.update(audio=MANUAL)
    caller.speak(silence(1.0))
    caller.send("input_audio_buffer.commit")
    transcription = caller.until("conversation.item.input_audio_transcription.completed")[-1]
    assert transcription["transcript"] == ""
    assert caller.answered()["status_details"]["error"]["message"].startswith("There is nothing to answer")


def test_turns_without_answers(caller: Caller) -> None:
    caller.update(audio={"input": {"turn_detection": {"type": "server_vad", "create_response": False}}})
    caller.speak(np.concatenate([QUESTION, QUESTION]))
    caller.until("conversation.item.input_audio_transcription.completed")
    caller.until("conversation.item.input_audio_transcription.completed")
    assert caller.update()
    assert not of(caller.seen, "response.created")


def test_nobody_reads_along_who_does_not_want_to(caller: Caller, talking: Live) -> None:
    caller.update(audio={"input": {"transcription": None}})
    caller.speak(QUESTION)
    events = caller.until("response.done")
    assert not [kind for kind in kinds(events) if "transcription" in kind]
    assert events[-1]["response"]["status"] == "completed"


def test_what_was_sent_before_turns_were_wanted_is_judged_too(caller: Caller) -> None:
    caller.update(audio=MANUAL)
    caller.speak(QUESTION)
    caller.send(
        "session.update", session={"type": "realtime", "audio": {"input": {"turn_detection": {"type": "server_vad"}}}}
    )
    order = kinds(caller.until("response.done"))
    assert order[:3] == ["session.updated", "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped"]


def test_more_sound_than_is_kept(caller: Caller, talking: Live) -> None:
    caller.update(audio=MANUAL)
    object.__setattr__(talking.settings, "max_buffer_seconds", 2.0)
    try:
        with calling(talking, model="scripted") as short:
            short.update(audio=MANUAL)
            short.speak(silence(1.5))
            error = short.error("input_audio_buffer.append", audio=text(pcm(silence(1.0))))
            assert error["code"] == "input_audio_buffer_full"
            short.ask("input_audio_buffer.commit", "input_audio_buffer.committed")
    finally:
        object.__setattr__(talking.settings, "max_buffer_seconds", 300.0)


def test_a_question_that_comes_as_an_item(caller: Caller, talking: Live) -> None:
    content = [{"type": "input_audio", "audio": text(pcm(QUESTION))}]
    item = {"type": "message", "role": "user", "content": content}
    caller.send("conversation.item.create", item=item)
    transcription = caller.until("conversation.item.input_audio_transcription.completed")
    assert transcription[-1]["transcript"]
    stored = caller.ask(
        "conversation.item.retrieve", "conversation.item.retrieved", item_id=transcription[-1]["item_id"]
    )
    assert stored["item"]["content"] == [{"type": "input_audio", "transcript": transcription[-1]["transcript"]}]
    assert caller.answered()["status"] == "completed"


# -- barge-in


def test_speaking_stops_the_voice(caller: Caller, talking: Live) -> None:
    """Nothing of the response follows its end, its item holds what was sent, and the next answer knows only that."""
    talking.engine.script.reply = LONG
    caller.say("Hi")
    caller.send("response.create")
    before = caller.until("response.output_audio.delta")
    talking.engine.script.reply = "Oh, I see."
    caller.speak(QUESTION)
    events = [*before, *caller.until("response.done")]
    done = events[-1]["response"]
    assert (done["status"], done["status_details"]["reason"]) == ("cancelled", "turn_detected")
    started = next(at for at, event in enumerate(events) if event["type"] == "input_audio_buffer.speech_started")
    assert kinds(events[started:]) == [
        "input_audio_buffer.speech_started", "response.output_audio.done", "response.output_audio_transcript.done",
        "response.content_part.done", "conversation.item.done", "response.output_item.done",
        "conversation.item.truncated", "response.done",
    ]  # fmt: skip
    (cut,) = of(events, "conversation.item.truncated")
    assert cut["audio_end_ms"] == len(sound(events)) // 2 * 1000 // 24000
    (item,) = done["output"]
    assert (item["id"], item["status"]) == (cut["item_id"], "incomplete")
    said = item["content"][0]["transcript"]
    assert said
    assert LONG.startswith(said)
    assert len(said) < len(LONG) / 2
    after = caller.until("response.done")
    assert after[-1]["response"]["status"] == "completed"
    assert after[-1]["response"]["output"][0]["content"][0]["transcript"] == "Oh, I see."
    assert {event["response_id"] for event in after if "response_id" in event} == {after[-1]["response"]["id"]}
    asked = prompt(talking)
    assert said in asked
    assert LONG[: len(said) + 20] not in asked
    quiet(talking)


def test_a_voice_that_may_not_be_interrupted(caller: Caller, talking: Live) -> None:
    turns = {"type": "server_vad", "interrupt_response": False}
    caller.update(audio={"input": {"turn_detection": turns}})
    talking.engine.script.reply, talking.engine.script.pause = "One two three four. " * 3, 0.05
    caller.say("Hi")
    caller.send("response.create")
    caller.until("response.output_audio.delta")
    caller.speak(QUESTION)
    events = caller.until("error")
    assert "conversation.item.input_audio_transcription.completed" in kinds(events)
    assert events[-1]["error"]["code"] == "conversation_already_has_active_response"
    assert caller.until("response.done")[-1]["response"]["status"] == "completed"


def test_a_question_waits_for_what_is_no_part_of_the_conversation(caller: Caller, talking: Live) -> None:
    talking.engine.script.reply, talking.engine.script.pause = "A note that takes its time. " * 2, 0.03
    caller.send(
        "response.create", response={"conversation": "none", "instructions": "Note.", "output_modalities": ["text"]}
    )
    caller.until("response.output_text.delta")
    caller.speak(QUESTION)
    note = caller.until("response.done")[-1]["response"]
    assert (note["status"], note["conversation_id"]) == ("completed", None)
    talking.engine.script.pause = 0.0
    answer = caller.until("response.done")[-1]["response"]
    assert answer["status"] == "completed"
    assert answer["conversation_id"]
    assert "A note" not in prompt(talking)


def test_who_goes_on_speaking_goes_on_with_the_question(caller: Caller) -> None:
    """Two stretches of speech close together get one answer."""
    caller.speak(np.concatenate([QUESTION, QUESTION]), piece=1 << 20)
    events = caller.until("response.done")
    assert len(of(events, "input_audio_buffer.committed")) == 2
    assert len(of(caller.seen, "response.created")) == 1
    assert events[-1]["response"]["status"] == "completed"


@pytest.mark.parametrize("how", ["response.cancel", "output_audio_buffer.clear", "abort"])
def test_a_voice_is_stopped(caller: Caller, talking: Live, how: str) -> None:
    talking.engine.script.reply = LONG
    caller.say("Hi")
    caller.send("response.create")
    caller.until("response.output_audio.delta")
    until(lambda: not talking.engine.script.running)  # all is written, and most still to be spoken
    if how == "abort":
        rid = of(caller.seen, "response.created")[0]["response"]["id"]
        assert "1 requests" in httpx.post(f"{talking.url}/abort_request", json={"rid": rid}).json()["message"]
    else:
        caller.send(how)
    done = caller.until("response.done")[-1]["response"]
    assert (done["status"], done["status_details"]["reason"]) == ("cancelled", "client_cancelled")
    assert done["usage"]["output_tokens"] == len(LONG)
    if how == "output_audio_buffer.clear":
        assert caller.until("output_audio_buffer.cleared")[-1]["response_id"] == done["id"]
    quiet(talking)
    assert caller.update()


def test_what_was_not_played_is_truncated(caller: Caller, talking: Live) -> None:
    talking.engine.script.reply = "One is first. Two is next. Three is last."
    caller.say("Hi")
    caller.send("response.create")
    events = caller.until("response.done")
    item = events[-1]["response"]["output"][0]["id"]
    whole = len(sound(events)) // 2 * 1000 // 24000
    error = caller.error("conversation.item.truncate", item_id=item, content_index=0, audio_end_ms=whole + 1)
    assert (error["param"], str(whole) in error["message"]) == ("audio_end_ms", True)
    begins = [at for at, event in enumerate(events) if event["type"] == "response.output_audio_transcript.delta"]
    second = len(sound(events[: begins[1]])) // 2 * 1000 // 24000  # where the second sentence begins to sound
    for end, left in ((whole, "One is first. Two is next. Three is last."), (second + 1, "One is first. Two is next."), (second - 1, "One is first."), (0, "")):  # fmt: skip
        caller.ask(
            "conversation.item.truncate", "conversation.item.truncated", item_id=item, content_index=0, audio_end_ms=end
        )
        stored = caller.ask("conversation.item.retrieve", "conversation.item.retrieved", item_id=item)["item"]
        assert stored["content"][0]["transcript"] == left
    assert "Only the sound" in caller.error(
        "conversation.item.truncate", item_id=of(caller.seen, "conversation.item.added")[0]["item"]["id"],
        content_index=0, audio_end_ms=0,
    )["message"]  # fmt: skip
    caller.say("Go on")
    caller.answered()
    assert "One is" not in prompt(talking)


# -- several, and clients that go


def test_conversations_side_by_side_do_not_meet(talking: Live) -> None:
    talking.engine.script.script = lambda request: (
        "I hear one."
        if "first" in talking.service.loaded["scripted"].tokenizer.decode(request.prompt_ids)
        else "And two."
    )

    def converse(words: str) -> tuple[str, bytes]:
        with calling(talking, model="scripted") as caller:
            caller.update(**VOICE)
            caller.say(words)
            caller.speak(QUESTION)
            events = caller.until("response.done")
            return events[-1]["response"]["output"][0]["content"][0]["transcript"], sound(events)

    alone = [converse(words) for words in ("first", "second")]
    assert [said for said, _ in alone] == ["I hear one.", "And two."]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(converse, ("first", "second")))
    assert [said for said, _ in together] == ["I hear one.", "And two."]
    if not no_kernels():  # torch's own products round by how many they are
        assert together == alone


def test_a_client_that_leaves_while_the_voice_speaks(talking: Live) -> None:
    talking.engine.script.reply = LONG
    with calling(talking, model="scripted") as caller:
        caller.update(**VOICE)
        caller.speak(QUESTION)
        caller.until("response.output_audio.delta")
        caller.speak(np.tile(voice(1.0), 3), piece=1 << 20)
    quiet(talking)
    until(lambda: "\ngrus_realtime_sessions 0.0" in httpx.get(f"{talking.url}/metrics").text, 15)
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("grus-voice")]


def test_a_whole_recording_at_once(caller: Caller) -> None:
    caller.speak(talk(3), piece=1 << 22)
    caller.until("response.done")
    assert len(of(caller.seen, "input_audio_buffer.committed")) == 3


def test_the_sound_is_what_the_speech_route_makes(caller: Caller, talking: Live) -> None:
    caller.send("response.create", response={"instructions": "Greet."})
    talked = np.frombuffer(sound(caller.until("response.done")), "<i2")
    body = {"model": "voice", "voice": "eric", "seed": 3, "response_format": "pcm", "markdown": True}
    spoken = [
        httpx.post(f"{talking.url}/v1/audio/speech", json={**body, "input": sentence}, timeout=60).content
        for sentence in ("Good morning.", "How are you?")
    ]
    assert np.array_equal(talked, np.frombuffer(b"".join(spoken), "<i2"))


@pytest.mark.parametrize(
    "format", [{"type": "audio/pcmu"}, {"type": "audio/pcma"}, {"type": "audio/pcm", "rate": 8000}], ids=str
)
def test_telephony(talking: Live, format: dict[str, object]) -> None:
    """Both ways; what is sent and truncated is counted at that rate."""
    form = AudioFormat.model_validate(format)
    width = 2 if form.type == "audio/pcm" else 1
    with calling(talking, model="scripted") as caller:
        caller.update(**VOICE)
        caller.say("Hi")
        caller.send("response.create")
        seconds = len(sound(caller.until("response.done"))) / 2 / 24000
        caller.update(audio={"input": {"format": format}, "output": {"format": format}})
        caller.send("input_audio_buffer.append", audio=as_text(soxr.resample(QUESTION, 16000, 8000), form))
        events = caller.until("response.done")
        (transcription,) = of(events, "conversation.item.input_audio_transcription.completed")
        assert transcription["transcript"]
        assert len(sound(events)) / width / 8000 == pytest.approx(seconds, abs=0.1)
        item = events[-1]["response"]["output"][0]["id"]
        whole = len(sound(events)) // width * 1000 // 8000
        error = caller.error("conversation.item.truncate", item_id=item, content_index=0, audio_end_ms=whole + 1)
        assert str(whole) in error["message"]
