"""What pictures become before a model sees them: numpy and Pillow only."""
