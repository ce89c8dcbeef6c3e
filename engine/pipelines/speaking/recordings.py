"""What a recording must be, so that a voice can be taken from it."""

from __future__ import annotations

import numpy as np

from engine.errors import BadRequest

SHORTEST_RECORDING, LONGEST_RECORDING = 0.5, 60.0  # seconds
_SILENT = 1e-3  # no sample above it: there is no voice
_CEILING = 0.999  # of the loudest sample: what was too loud for the recorder lies here
_CLIPPED = 0.05  # of all samples; a pure tone that fills the scale has 0.03 there, speech hardly any


def checked(samples: np.ndarray, rate: int) -> np.ndarray:
    sound = np.asarray(samples, np.float32)
    if sound.ndim != 1 or not np.isfinite(sound).all():
        raise BadRequest("A recording must be one row of finite samples.", "voice")
    seconds = len(sound) / rate
    if not SHORTEST_RECORDING <= seconds <= LONGEST_RECORDING:
        raise BadRequest(
            f"The recording lasts {seconds:.{1 if seconds >= 1 else 2}f} seconds. A voice can be taken from {SHORTEST_RECORDING:g} to {LONGEST_RECORDING:g}; "
            "3 to 15 are best.",
            "voice",
        )
    sizes = np.abs(sound)
    if sizes.max() < _SILENT:
        raise BadRequest("The recording is silent.", "voice")
    share = float((sizes >= _CEILING * sizes.max()).mean())
    if share > _CLIPPED:
        raise BadRequest(
            f"The recording is clipped: {share:.0%} of its samples are as loud as it goes. Record it again, quieter.",
            "voice",
        )
    return sound
