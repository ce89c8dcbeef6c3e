"""The chat pane's views."""
