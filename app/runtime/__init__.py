"""The one way in which every part of the product runs models: window, server, command line and Python. No HTTP, no window."""
