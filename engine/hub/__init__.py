"""Finding a model by name: the Hugging Face cache on this machine, and downloads into it."""
