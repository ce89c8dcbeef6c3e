"""Speech, transcription and saved voices, in the words of OpenAI and of the voice servers before."""
