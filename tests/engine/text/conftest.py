"""Property tests here draw the same examples on every machine."""

from hypothesis import settings

settings.register_profile("text", derandomize=True, deadline=None, database=None)
settings.load_profile("text")
