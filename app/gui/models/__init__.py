"""The models pane: views only."""
