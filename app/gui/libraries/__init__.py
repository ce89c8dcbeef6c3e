"""The Libraries pane."""
