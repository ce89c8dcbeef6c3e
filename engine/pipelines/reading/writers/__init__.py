"""What was read, as files: one writer a format, each a function from a `Document` to bytes."""
