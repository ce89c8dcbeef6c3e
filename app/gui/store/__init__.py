"""What Grus remembers: conversations, results and voices in SQLite. Knows no Qt and no engine."""
