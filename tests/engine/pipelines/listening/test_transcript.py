"""Transcripts as text, subtitles and JSON."""

from __future__ import annotations

import json

import pytest

from engine.errors import BadRequest
from engine.pipelines.listening.transcript import Transcript, TranscriptSegment, TranscriptWord, clock, write

SAID = Transcript(
    [
        TranscriptSegment(
            0.5, 2.25, "Hello there.", 0.9, [TranscriptWord("Hello", 0.5, 1.5), TranscriptWord("there.", 1.5, 2.25)]
        ),
        TranscriptSegment(3.0, 4.0, ""),
        TranscriptSegment(3661.0015, 3662.5, "a <b> --> c\n\nd", 0.4, doubtful=True),
    ],
    3700.0,
    "en",
)


def test_text():
    assert write(SAID, "txt") == "Hello there.\na <b> --> c\n\nd\n"


def test_srt():
    assert write(SAID, "srt") == (
        "1\n00:00:00,500 --> 00:00:02,250\nHello there.\n\n2\n01:01:01,002 --> 01:01:02,500\na <b> -> c d\n"
    )


def test_vtt():
    assert write(SAID, "vtt") == (
        "WEBVTT\n\n00:00:00.500 --> 00:00:02.250\nHello there.\n\n01:01:01.002 --> 01:01:02.500\na &lt;b&gt; --&gt; c d\n"
    )


def test_json():
    body = json.loads(write(SAID, "json"))
    assert body["text"] == SAID.text
    assert body["segments"][0]["words"][1] == {"text": "there.", "start": 1.5, "end": 2.25}
    assert body["segments"][2]["doubtful"] is True


def test_other_formats():
    with pytest.raises(BadRequest, match="txt, srt, vtt, json"):
        write(SAID, "docx")


def test_times_in_json_have_no_more_digits_than_milliseconds():
    word = TranscriptWord("Hi.", 0.1 + 0.2, 2.0780000000000003)
    said = Transcript([TranscriptSegment(0.1 + 0.2, 2.0780000000000003, "Hi.", words=[word])], 3.0, "en")
    (segment,) = json.loads(write(said, "json"))["segments"]
    for timed in (segment, *segment["words"]):
        assert (timed["start"], timed["end"]) == (0.3, 2.078)


@pytest.mark.parametrize(("seconds", "said"), [(0, "00:00:00,000"), (59.9996, "00:01:00,000"), (-1, "00:00:00,000")])
def test_clock(seconds, said):
    assert clock(seconds, ",") == said
