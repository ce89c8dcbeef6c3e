"""Tools that run: functions, built-in tools and those of MCP servers, what a person allows them, and the loop that calls them."""
