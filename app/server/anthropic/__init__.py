"""Anthropic's Messages API: its bodies, the conversation in them, the routes, and its list of models."""
