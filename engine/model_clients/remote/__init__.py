"""Clients of models behind an OpenAI-compatible HTTP interface: embedding, chat, rerank."""
