"""Document reading (OCR): layout detection, text recognition, output files. `session.py` is the entry point."""
