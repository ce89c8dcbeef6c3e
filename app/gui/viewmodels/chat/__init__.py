"""How the chat pane behaves: the list, the open conversation, what is being typed, and how replies are read."""
