"""Models of servers elsewhere that speak OpenAI's API: kept servers, their client, and their models as the runtime knows models."""
