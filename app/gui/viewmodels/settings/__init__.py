"""How the settings pane behaves: what can be chosen, and what is stored where."""
