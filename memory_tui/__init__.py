"""The terminal browser: memories, graph, atoms, timeline, recall lab and health."""
