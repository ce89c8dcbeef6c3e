"""`/v1/realtime`: conversations by voice over a websocket, in the events of OpenAI's Realtime API."""
