"""The settings pane: views only."""
