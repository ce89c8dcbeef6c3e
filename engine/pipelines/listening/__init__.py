"""From sound to text: finding speech, transcribing it, telling when what was said."""
