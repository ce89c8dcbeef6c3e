"""Speech, transcription and voices: the routes, until their engine is here."""
