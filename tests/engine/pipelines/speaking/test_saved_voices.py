"""Saved voices: kept whole or not at all, found again, and never outside their folder."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile

from engine.errors import BadRequest
from engine.media import sound
from engine.pipelines.speaking.voice import Clone, SavedVoices

RATE = 24000
VECTOR = np.linspace(-1, 1, 8).astype(np.float32)
CODES = np.arange(32, dtype=np.int32).reshape(8, 4)
SOUND = (0.3 * np.sin(np.arange(RATE) / 20)).astype(np.float32)


@pytest.fixture
def voices(tmp_path):
    return SavedVoices(tmp_path / "voices")


ME = Clone(VECTOR, CODES, "What I said.")


def keep(voices, name="me", clone=ME, **more):
    return voices.save(name, "some/model", clone, SOUND, RATE, **more)


def test_a_voice_comes_back_as_it_was(voices):
    made = keep(voices)
    found = voices.load("me")
    assert np.array_equal(found.vector, VECTOR)
    assert np.array_equal(found.codes, CODES)
    assert found.text == "What I said."
    assert (made.name, made.model, made.seconds) == ("me", "some/model", 1.0)
    samples, rate = soundfile.read(made.sample)
    assert (len(samples), rate) == (RATE, RATE)


def test_a_voice_of_colour_alone_has_no_text(voices):
    keep(voices, clone=Clone(VECTOR))
    found = voices.load("me")
    assert (found.codes, found.text) == (None, None)


def test_the_list_is_by_name_and_a_name_is_taken_once(voices):
    assert voices.list() == []
    for name in ("Zoe", "adam", "Ünal 2"):
        keep(voices, name)
    assert [one.name for one in voices.list()] == ["adam", "Zoe", "Ünal 2"]
    with pytest.raises(BadRequest, match="already"):
        keep(voices, "adam")
    keep(voices, "adam", Clone(2 * VECTOR), replace=True)
    assert np.array_equal(voices.load("adam").vector, 2 * VECTOR)
    voices.delete("adam")
    assert [one.name for one in voices.list()] == ["Zoe", "Ünal 2"]
    with pytest.raises(BadRequest, match="no saved voice"):
        voices.delete("adam")


@pytest.mark.parametrize("name", [
    "../me", "..", ".", ".hidden", "a/b", "a\\b", "/etc/passwd", "", " ", "x" * 65, "a\0b", "a\nb", "me ", "me.", "a:b",
    "~", "me\n",
])  # fmt: skip
def test_a_name_never_leads_out_of_the_folder(voices, tmp_path, name):
    (tmp_path / "me").mkdir()
    (tmp_path / "me" / "voice.json").write_text("{}")
    for act in (lambda: keep(voices, name), lambda: voices.load(name), lambda: voices.delete(name)):
        with pytest.raises(BadRequest):
            act()
    assert not voices.has(name)
    assert (tmp_path / "me" / "voice.json").exists()


@pytest.mark.parametrize("name", ["CON", "nul", "com1.txt"])
def test_names_that_a_system_keeps_for_itself_are_refused(voices, name):
    with pytest.raises(BadRequest, match="is no name"):
        keep(voices, name)


def test_nothing_half_written_stays(voices, monkeypatch):
    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(sound, "write_file", broken)
    with pytest.raises(OSError, match="disk full"):
        keep(voices)
    assert list(voices.folder.iterdir()) == []


def test_replacing_keeps_the_old_voice_when_the_new_one_fails(voices, monkeypatch):
    keep(voices)

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(sound, "write_file", broken)
    with pytest.raises(OSError, match="disk full"):
        keep(voices, clone=Clone(3 * VECTOR), replace=True)
    assert np.array_equal(voices.load("me").vector, VECTOR)


DAMAGE = {
    "half of the arrays": lambda path: (path / "voice.npz").write_bytes((path / "voice.npz").read_bytes()[:100]),
    "no arrays": lambda path: (path / "voice.npz").write_bytes(b""),
    "arrays gone": lambda path: (path / "voice.npz").unlink(),
    "no JSON": lambda path: (path / "voice.json").write_text("{"),
    "JSON of another kind": lambda path: (path / "voice.json").write_text("[1]"),
    "bytes that are no text": lambda path: (path / "voice.json").write_bytes(b"\xff\xfe\x00"),
    "values of another kind": lambda path: (path / "voice.json").write_text(json.dumps({"text": 5, "seconds": "x"})),
    "no vector": lambda path: np.savez(path / "voice.npz", codes=CODES),
    "a vector of words": lambda path: np.savez(path / "voice.npz", vector=np.array(["a"])),
    "a vector that is no number": lambda path: np.savez(path / "voice.npz", vector=np.full(8, np.nan, np.float32)),
    "codes that are no numbers": lambda path: np.savez(path / "voice.npz", vector=VECTOR, codes=np.array(["a"])),
    "codes with a point": lambda path: np.savez(path / "voice.npz", vector=VECTOR, codes=CODES + 0.5),
    "pickled objects": lambda path: np.savez(path / "voice.npz", vector=np.array([{}], object)),
}


@pytest.mark.parametrize("harm", DAMAGE)
def test_a_damaged_voice_is_a_plain_error_and_can_be_deleted(voices, harm):
    keep(voices, "other")
    made = keep(voices)
    DAMAGE[harm](made.sample.parent)
    with pytest.raises(BadRequest, match="damaged"):
        voices.load("me")
    assert "other" in [one.name for one in voices.list()]
    voices.delete("me")
    assert [one.name for one in voices.list()] == ["other"]
