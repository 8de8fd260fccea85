"""The web panel: a local page to set, watch and tend the memory of assistants."""
