"""The Speak pane: its views."""
