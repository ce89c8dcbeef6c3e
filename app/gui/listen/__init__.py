"""The Listen pane: its views."""
