"""From text to atoms, nodes, edges, kinds and importance, by rules that are data."""
