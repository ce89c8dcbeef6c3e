"""One local endpoint for every tool on the machine. Handlers translate between a family's words and the engine's."""
