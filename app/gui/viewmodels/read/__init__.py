"""What the Read pane does: knows no widget."""
