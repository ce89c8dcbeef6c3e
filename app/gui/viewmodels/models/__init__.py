"""How the models pane behaves: what is here, what could be, and what is on its way."""
