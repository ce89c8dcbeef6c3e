"""Checkpoints on disk, and the view of them that models are built from. No arrays are made in here."""
