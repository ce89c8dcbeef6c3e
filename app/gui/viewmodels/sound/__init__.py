"""Sound without widgets: what is played, and how it looks."""
