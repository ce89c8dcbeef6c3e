"""A program of its own that decodes recordings and muxes subtitles with FFmpeg; `recordings.py` runs it.

Parsers of sixty containers meet the files of strangers here: in a process with little memory that opens one file, writes none (unless
it muxes), starts no program and reaches no network. It imports nothing of Grus but two empty packages.

What it sends: pieces of one letter, a length of four bytes, and so many bytes. `J` is an object of JSON, `D` samples (f32,
channels interleaved). The last piece is a `J`.
"""

from __future__ import annotations

import json
import struct
import sys
from fractions import Fraction
from typing import Any

_MEMORY = 1 << 30
_CPU_SECONDS = 3600
_BLOCK = 1 << 19  # bytes of samples in a piece
_MOST_CHANNELS = 64
# Containers of recordings. Playlists and lists of other files (hls, concat, dash) are none, nor is what reads a device.
_CONTAINERS = (
    "aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dts,eac3,flac,flv,gsm,loas,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,"
    "mp3,mpc,mpc8,mpeg,mpegts,mxf,nut,ogg,rm,tta,voc,w64,wav,wv,xwma"
)
_OPTIONS = {"format_whitelist": _CONTAINERS, "protocol_whitelist": "file", "enable_drefs": "0"}
_TEXT_CODECS = {"matroska": "subrip", "webm": "webvtt", "mov": "mov_text", "mp4": "mov_text"}
_MUXERS = {".mkv": "matroska", ".webm": "webm", ".mp4": "mp4", ".m4v": "mp4", ".mov": "mov"}


def _limit(writes: bool) -> None:
    try:
        import resource
    except ImportError:  # Windows: what is left is a process of its own, and the parent's clock
        return
    limits = [(resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_CPU, _CPU_SECONDS), (resource.RLIMIT_CORE, 0)]
    for kind, most in [*limits, (resource.RLIMIT_NOFILE, 64), *([] if writes else [(resource.RLIMIT_FSIZE, 0)])]:
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _send(letter: bytes, data: bytes) -> None:
    sys.stdout.buffer.write(letter + struct.pack("<I", len(data)))
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _say(**facts: Any) -> None:
    _send(b"J", json.dumps(facts).encode())


class _Refused(Exception):
    """A reason in a few words."""


def _opened(av: Any, path: str) -> Any:
    try:
        return av.open(path, "r", options=_OPTIONS, metadata_errors="replace")
    except (av.FFmpegError, OSError, ValueError) as error:
        raise _Refused(_reason(error)) from None


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", "") or error).strip(" .") or type(error).__name__


def _tracks(file: Any) -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "language": str(stream.metadata.get("language", "")),
            "title": str(stream.metadata.get("title", ""))[:200],
            "codec": stream.codec_context.name if stream.codec_context is not None else "",
        }
        for number, stream in enumerate(file.streams.audio, 1)
    ]


def _decode(av: Any, path: str, track: int, start: float) -> None:
    """Sends what the recording is, then its samples from `start` seconds on."""
    with _opened(av, path) as file:
        tracks = _tracks(file)
        if not tracks:
            raise _Refused("it holds no sound")
        if not 1 <= track <= len(tracks):
            _say(tracks=tracks, error="", missing=track)
            return
        stream = file.streams.audio[track - 1]
        if stream.codec_context is None:
            raise _Refused("its sound is in a format that FFmpeg does not know")
        if start > 0 and stream.time_base:
            origin = stream.start_time or 0
            # an earlier place, because compressed frames need those before them
            file.seek(max(origin, origin + int((start - 1.0) / stream.time_base)), stream=stream)
        origin = float((stream.start_time or 0) * (stream.time_base or 0))
        samples = _Samples(av, start, origin, (file.duration or 0) / 1e6)
        failed = ""
        packets = file.demux(stream)
        while True:
            try:
                packet = next(packets, None)
                if packet is None:
                    break
                for frame in packet.decode():
                    samples.add(frame, tracks)
            except (av.FFmpegError, ValueError) as error:  # a broken packet; what is behind it may be whole
                if failed == (failed := _reason(error)) and isinstance(error, av.error.EOFError):
                    break
        samples.finish()
        if not samples.any:
            raise _Refused(failed or "it holds no sound")
        _say(error="")


class _Samples:
    """Frames of any layout as interleaved f32 of the first frame's rate and channels."""

    def __init__(self, av: Any, start: float, origin: float, seconds: float) -> None:
        self._av, self._start, self._origin, self._seconds = av, start, origin, seconds
        self._resampler: Any = None
        self._shape: tuple[Any, ...] = ()
        self._rate, self._channels = 0, 0
        self._layout: Any = None
        self._kept = bytearray()
        self._skip: int | None = None if start > 0 else 0  # frames before the start
        self.any = False

    def add(self, frame: Any, tracks: Any) -> None:
        if not self.any:
            self._rate, self._layout = frame.sample_rate, frame.layout
            self._channels = len(frame.layout.channels)
            if not 0 < self._channels <= _MOST_CHANNELS or self._rate <= 0:
                raise _Refused(f"it has {self._channels} channels")
            _say(rate=self._rate, channels=self._channels, tracks=tracks, seconds=self._seconds)
            self.any = True
        if self._skip is None:
            begins = self._origin if frame.time is None else frame.time
            self._skip = max(0, round((self._start - (begins - self._origin)) * self._rate))
        shape = (frame.format.name, frame.layout.name, frame.sample_rate)
        if shape != self._shape:  # also in the middle of a broadcast
            self._drain()
            self._resampler = self._av.AudioResampler(format="flt", layout=self._layout, rate=self._rate)
            self._shape = shape
        frame.pts = None
        self._take(self._resampler.resample(frame))

    def finish(self) -> None:
        self._drain()
        self._flush(1)

    def _drain(self) -> None:
        if self._resampler is not None:
            self._take(self._resampler.resample(None))

    def _take(self, frames: Any) -> None:
        width = 4 * self._channels
        for frame in frames:
            data = bytes(frame.planes[0])[: frame.samples * width]
            if self._skip:
                gone = min(self._skip, frame.samples)
                self._skip -= gone
                data = data[gone * width :]
            self._kept += data
        self._flush(_BLOCK)

    def _flush(self, least: int) -> None:
        if len(self._kept) >= least:
            _send(b"D", bytes(self._kept))
            self._kept.clear()


def _mux(av: Any, source: str, target: str, suffix: str) -> None:
    """Copies all streams of `source` to `target` and adds subtitles, which come as JSON on standard input."""
    spoken = json.load(sys.stdin)
    kind = _MUXERS.get(suffix)
    if kind is None:
        raise _Refused(f"subtitles are muxed into {', '.join(_MUXERS)}")
    codec = _TEXT_CODECS[kind]
    with _opened(av, source) as file, av.open(target, "w", format=kind) as out:
        copies: dict[int, Any] = {}
        for stream in file.streams:
            if stream.type not in ("video", "audio", "subtitle"):
                continue
            try:
                copies[stream.index] = out.add_stream_from_template(stream)
            except (av.FFmpegError, ValueError) as error:
                raise _Refused(f"{suffix} does not take its {stream.type} ({_reason(error)})") from None
        track = out.add_mux_stream(codec)
        track.time_base = Fraction(1, 1000)
        track.metadata["language"] = spoken["language"] or "und"
        lines = [_subtitle(av, track, line, codec) for line in spoken["lines"]]
        for packet in file.demux():
            if packet.dts is None or packet.stream.index not in copies:
                continue
            at = float(packet.dts * packet.time_base)
            while lines and float(lines[0].pts) / 1000 <= at:
                out.mux(lines.pop(0))
            packet.stream = copies[packet.stream.index]
            out.mux(packet)
        for line in lines:
            out.mux(line)
    _say(error="")


def _subtitle(av: Any, track: Any, line: dict[str, Any], codec: str) -> Any:
    text = str(line["text"]).encode()
    packet = av.Packet(struct.pack(">H", len(text)) + text if codec == "mov_text" else text)
    packet.stream, packet.time_base = track, Fraction(1, 1000)
    packet.pts = packet.dts = round(line["start"] * 1000)
    packet.duration = max(1, round((line["end"] - line["start"]) * 1000))
    return packet


def main() -> int:
    what, *given = sys.argv[1:]
    try:
        import av
    except ImportError:
        _say(error="", lacks="av")
        return 1
    av.logging.set_level(None)
    _limit(writes=what == "mux")
    try:
        if what == "decode":
            _decode(av, given[0], int(given[1]), float(given[2]))
        else:
            _mux(av, *given)
    except _Refused as error:
        _say(error=str(error))
        return 1
    except (av.FFmpegError, OSError, ValueError, MemoryError) as error:
        _say(error=_reason(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
