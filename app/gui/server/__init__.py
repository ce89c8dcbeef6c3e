"""The server pane: views only."""
