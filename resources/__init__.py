"""Files that ship with Grus and are not code. Read them with `importlib.resources.files("resources")`."""
