"""What the Speak pane does: knows no widget."""
