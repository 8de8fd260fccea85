"""Frozen values and rules of memory. Standard library only."""
