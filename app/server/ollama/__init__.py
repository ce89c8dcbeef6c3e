"""The routes of Ollama's API."""
