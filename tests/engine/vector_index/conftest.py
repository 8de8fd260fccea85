"""Fixtures of the vector index tests."""

from tests.engine.vector_index.opened_index import folder, opened, store

__all__ = ["folder", "opened", "store"]
