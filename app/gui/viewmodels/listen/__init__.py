"""What the Listen pane does: knows no widget."""
