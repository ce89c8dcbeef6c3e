"""Programs that act with a model (Claude Code, Codex and others): settings for this server, and starting them with it."""
