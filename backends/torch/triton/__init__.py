"""GGUF's blocks on CUDA, in Triton. Importing this package imports no Triton; `blocks.available()` says whether it is there."""
