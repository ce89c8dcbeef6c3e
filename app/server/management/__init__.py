"""Health, figures, loading and unloading."""
