"""GGUF: one file that holds a model's weights in blocks, its config, its tokenizer and its chat template."""
