"""From pages to what is written on them: splitting, recognizing, joining, writing. `engine/pipelines/ocr.py` is the door."""
