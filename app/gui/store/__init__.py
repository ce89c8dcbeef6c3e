"""Persistence: conversations, messages and results in SQLite. No Qt, no engine."""
