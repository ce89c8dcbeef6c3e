"""How the server pane behaves: the switch, who may connect, what goes on, and how to use it."""
