"""llama.cpp's native routes."""
