"""Speech recognition: voice activity detection, transcription, word times."""
