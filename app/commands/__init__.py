"""One file a command. Each has `add_to(commands)`, which declares its options and says which function runs it."""
