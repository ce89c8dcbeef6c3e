"""The Read pane: its views."""
