"""From pages to what is written on them: splitting, recognizing, joining, writing. `engine/pipelines/reading/session.py` is the door."""
