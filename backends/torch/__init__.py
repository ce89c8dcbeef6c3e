"""Grus on torch. Settings that torch reads from the environment are made here, before it is imported."""

import os

# Arrays of some megabytes on huge pages, where the system offers them: their first use costs one fault for two megabytes, not for four
# kilobytes. Read by torch when it first allocates. It took a sixth off a passage of Kokoro.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
