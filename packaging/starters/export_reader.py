"""Writes the trained Reader as a model folder, in the layout in which PaddleOCR-VL is published.

python packaging/starters/export_reader.py WORK resources/starter/reader
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch
from line_shards import RULES
from line_text import CHARACTERS
from reader_model import FIRST, KNOTS, PHRASES, SPECIALS, TEXT, VISION, VISION_THETA, VOCABULARY, published
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

TEMPLATE = (
    "{{ '<|begin_of_sentence|>' }}{% for message in messages %}{% if message['role'] == 'user' %}{{ 'User: ' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] if part['type'] == 'image' %}"
    "{{ '<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>' }}{% endfor %}"
    "{% for part in message['content'] if part['type'] == 'text' %}{{ part['text'] }}{% endfor %}{% endif %}{{ '\\n' }}"
    "{% elif message['role'] == 'assistant' %}{{ 'Assistant: ' }}{{ message['content'] }}{{ '</s>' }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ 'Assistant: ' }}{% endif %}"
)


def config() -> dict[str, object]:
    return {
        "architectures": ["PaddleOCRVLForConditionalGeneration"],
        "model_type": "paddleocr_vl",
        "vocab_size": VOCABULARY,
        "hidden_size": TEXT["width"],
        "intermediate_size": TEXT["inner"],
        "num_hidden_layers": TEXT["layers"],
        "num_attention_heads": TEXT["heads"],
        "num_key_value_heads": TEXT["heads"],
        "head_dim": TEXT["head"],
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "max_position_embeddings": 2048,
        "rope_theta": TEXT["theta"],
        "rope_scaling": {"type": "default", "rope_type": "default", "mrope_section": list(TEXT["sections"])},
        "use_bias": False,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "vision_start_token_id": SPECIALS.index("<|IMAGE_START|>"),
        "vision_end_token_id": SPECIALS.index("<|IMAGE_END|>"),
        "image_token_id": SPECIALS.index("<|IMAGE_PLACEHOLDER|>"),
        "video_token_id": len(SPECIALS) + PHRASES.index("<|VIDEO_PLACEHOLDER|>"),
        "vision_config": {
            "model_type": "paddleocr_vl",
            "hidden_size": VISION["width"],
            "intermediate_size": VISION["inner"],
            "num_hidden_layers": VISION["layers"],
            "num_attention_heads": VISION["heads"],
            "num_channels": 3,
            "image_size": KNOTS * RULES.height,
            "patch_size": RULES.height,
            "spatial_merge_size": 1,
            "temporal_patch_size": 1,
            "tokens_per_second": 2,
            "hidden_act": "gelu_pytorch_tanh",
            "layer_norm_eps": 1e-6,
            "attention_dropout": 0.0,
            "rope_theta": VISION_THETA,
        },
    }


def preprocessor() -> dict[str, object]:
    side = RULES.height
    return {
        "image_processor_type": "PaddleOCRVLImageProcessor",
        "do_convert_rgb": True,
        "do_resize": True,
        "do_rescale": True,
        "do_normalize": True,
        "resample": 3,
        "rescale_factor": 1 / 255,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
        "patch_size": side,
        "merge_size": 1,
        "temporal_patch_size": 1,
        "min_pixels": side * side,
        "max_pixels": side * side * 190,
        "line_strip": {key: getattr(RULES, key) for key in ("height", "rise", "stretch", "longest")},
    }


def tokenizer() -> Tokenizer:
    """A token a character; the fixed parts of the prompt are one token each."""
    names = [*SPECIALS, *PHRASES, *CHARACTERS]
    names += [f"<|unused_{i}|>" for i in range(VOCABULARY - len(names))]
    made = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    made.decoder = decoders.Fuse()
    made.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in (*SPECIALS, PHRASES[0])])
    made.add_tokens([AddedToken(name, special=False, normalized=False) for name in PHRASES[1:-1]])
    assert made.encode("User: <|IMAGE_START|>OCR:\nAssistant: a").ids[-1] == FIRST + CHARACTERS.index("a")
    return made


def export(weights: dict[str, torch.Tensor], folder: Path, dtype: torch.dtype = torch.bfloat16) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    save_file({k: v.to(dtype) for k, v in published(weights).items()}, folder / "model.safetensors", {"format": "pt"})

    def write(name: str, value: object) -> None:
        (folder / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    write("config.json", config() | {"torch_dtype": str(dtype).removeprefix("torch.")})
    write("preprocessor_config.json", preprocessor())
    write("generation_config.json", {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "do_sample": False})
    write(
        "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<|begin_of_sentence|>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "pad_token": "<unk>",
            "add_bos_token": False,
            "clean_up_tokenization_spaces": False,
            "chat_template": TEMPLATE,
        },
    )
    tokenizer().save(str(folder / "tokenizer.json"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", default="reader")
    parser.add_argument("--last", action="store_true", help="the last step's weights, not the average of the late ones")
    args = parser.parse_args()
    kept = torch.load(args.work / f"{args.name}.pt", map_location="cpu")
    export(kept["model" if args.last else "average"], args.folder)
    print(f"step {kept['step']}: {args.folder}")


if __name__ == "__main__":
    main()
