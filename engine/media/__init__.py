"""Pictures and sound: from the bytes that people send to the arrays that models read."""
