"""SGLang's native routes, for tools that were written for it."""
