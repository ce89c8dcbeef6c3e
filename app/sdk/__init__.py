"""What `grus.py` offers beside models that chat: one small class for each thing that Grus can do."""
