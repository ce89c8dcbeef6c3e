"""Ollama's routes, for tools that speak nothing else."""
