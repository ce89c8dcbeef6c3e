"""AAC of `/v1/audio/speech`, over a socket and read back by FFmpeg."""

from __future__ import annotations

import io

import av
import numpy as np

from tests.app.server.live import Live
from tests.app.server.test_speech_options import live, say, sound

__all__ = ["live"]  # the fixture


def test_aac_is_aac(live: Live) -> None:
    """Read back by FFmpeg: the codec, and the same sound as in PCM."""
    body = {"temperature": 0.9}
    plain = sound(live, **body).astype(np.float32) / 32767
    for stream in (True, False):
        reply = say(live, **body, response_format="aac", stream=stream)
        assert reply.status_code == 200, reply.text
        assert reply.headers["content-type"] == "audio/aac"
        with av.open(io.BytesIO(reply.content)) as file:
            (track,) = file.streams
            assert (track.codec_context.name, track.codec_context.sample_rate) == ("aac", 24000)
            parts = [frame.to_ndarray()[0] for frame in file.decode(audio=0)]
        decoded = np.concatenate(parts)
        assert len(plain) <= len(decoded) <= len(plain) + 3 * 1024
        decoded = decoded[1024 : 1024 + len(plain)]  # the encoder's delay
        assert np.corrcoef(decoded[: len(plain)], plain[: len(decoded)])[0, 1] > 0.9
