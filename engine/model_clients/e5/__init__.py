"""The embedded default model: multilingual-e5-small with 4-bit weights, 384 dims."""
