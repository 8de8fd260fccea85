"""Nearest neighbours among the pieces of one embedding space; derived, never the truth."""
