"""Conversations of other applications: their exports become conversations of plain data, one file for each application."""
