"""The routes of OpenAI's API: one file each, with its protocol and its translation."""
