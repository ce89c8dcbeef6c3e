"""Makes `shapes.json` and `case.npz` with mlx-audio's BiCodec; see README.md."""

import json

import mlx.core as mx
import mlx_audio.tts.models.spark.bicodec as reference
import numpy as np
from mlx.utils import tree_flatten

from tests.spark_checkpoint import CONFIG, DATA, features, sound, weight

mx.set_default_device(mx.cpu)
parts = CONFIG["audio_tokenizer"]
model = reference.BiCodec(
    parts["mel_params"],
    reference.Encoder(**parts["encoder"]),
    reference.WaveGenerator(**parts["decoder"]),
    reference.FactorizedVectorQuantize(**parts["quantizer"]),
    reference.SpeakerEncoder(**parts["speaker_encoder"]),
    reference.Decoder(**parts["prenet"]),
    reference.Decoder(**parts["postnet"]),
)
model.eval()


def published(name: str) -> str:
    return name.replace("block.layers.", "block.")


def axes(name: str) -> tuple[int, int, int]:
    """How a three-axis tensor of MLX becomes torch's; both ways the same for a transposed convolution's kernel."""
    upsampling = name.startswith("decoder.model.") and name.count("block") == 1 and ".layers.1.weight" in name
    return (2, 0, 1) if upsampling else (0, 2, 1)


shapes, loaded = {}, []
for name, value in tree_flatten(model.parameters()):
    if "cluster_size" in name or "._" in name:
        continue
    if value.ndim == 3:
        order = axes(name)
        shapes[published(name)] = shape = tuple(value.shape[i] for i in order)
        made = weight(published(name), shape).transpose(np.argsort(order))
    else:
        shapes[published(name)] = value.shape
        made = weight(published(name), value.shape)
    loaded.append((name, mx.array(made)))
model.load_weights(loaded, strict=False)
(DATA / "shapes.json").write_text(json.dumps(shapes, indent=0))

wave = mx.array(sound()[None])
semantic, voice = model.tokenize({"feat": mx.array(features()[None]), "ref_wav": wave})
np.savez_compressed(
    DATA / "case.npz",
    mel=np.array(reference.mel_spectrogram(wave[0]))[0],
    semantic=np.array(semantic)[0],
    voice=np.array(voice).reshape(-1),
    wave=np.array(model.detokenize(semantic, voice)).reshape(-1),
)
