"""Registering the server with assistants: where each keeps its settings, and how to change them
without touching anything else in there."""
