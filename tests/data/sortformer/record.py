"""Record what mlx-audio 0.6.2 finds with the tiny checkpoints of `tests/sortformer_checkpoints.py`, as `cases.npz` beside this file.

Run it from the repository's root with mlx-audio unpacked on PYTHONPATH: `PYTHONPATH=.:UNPACKED python tests/data/sortformer/record.py`.
"""

from __future__ import annotations

import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten
from mlx_audio.vad.models.sortformer import Model, ModelConfig
from mlx_audio.vad.models.sortformer.sortformer import extract_mel_features

from tests.sortformer_checkpoints import (
    CHUNK,
    DATA,
    KINDS,
    LONG_V1,
    Kind,
    config,
    conversation,
    mlx_layout,
    published,
    shapes,
    weights,
)


def main() -> None:
    made: dict[str, np.ndarray] = {}
    for kind in KINDS:
        check_names(kind)
        model = reference(kind)
        embedded, _ = model.fc_encoder.pre_encode(mel(kind, conversation(3.0)), mx.array([301]))
        encoded, _ = model.fc_encoder.encode(embedded, mx.array([embedded.shape[1]]))
        made[f"{kind}_encoded"] = np.array(encoded[0]).T
        if kind == "v1":
            whole = np.concatenate((np.zeros(9600, np.float32), conversation(5.0, 1)))
            made["v1_whole"] = np.array(model.generate(whole, threshold=0.5).speaker_probs)
            sound, state, rows = conversation(20.0, 2), model.init_streaming_state(), []
            for at in range(0, len(sound), LONG_V1):
                piece = sound[at : at + LONG_V1]
                found, state = model.feed(piece, state, spkcache_max=40, fifo_max=20)
                rows.append(np.array(found.speaker_probs)[: -(-len(piece) // 1280)])
            made["v1_long"] = np.concatenate(rows)
        else:
            for name, seconds in (("v2_long", 30.0), ("v2_short", 0.9)):
                found = list(model.generate_stream(conversation(seconds, 2), chunk_duration=CHUNK * 0.08))
                made[name] = np.concatenate([np.array(one.speaker_probs) for one in found])
    np.savez_compressed(DATA / "cases.npz", **made)
    print({name: (value.shape, float((value > 0.5).mean())) for name, value in made.items()})


def check_names(kind: Kind) -> None:
    """The published sizes have the tensors of `shapes`."""
    model = Model(ModelConfig.from_dict(published(kind)))
    stored = mlx_layout(
        {name: np.broadcast_to(np.float32(0), shape) for name, shape in shapes(published(kind)).items()}
    )
    assert {name: value.shape for name, value in tree_flatten(model.parameters())} == {
        name: value.shape for name, value in stored.items()
    }


def reference(kind: Kind) -> Model:
    model = Model(ModelConfig.from_dict(config(kind)))
    model.load_weights([(name, mx.array(value)) for name, value in mlx_layout(weights(kind)).items()])
    model.eval()
    return model


def mel(kind: Kind, samples: np.ndarray) -> mx.array:
    bands = config(kind)["fc_encoder_config"]["num_mel_bins"]
    how = "per_feature" if kind == "v1" else None
    return extract_mel_features(mx.array(samples), n_mels=bands, normalize=how, pad_to=0)


if __name__ == "__main__":
    main()
