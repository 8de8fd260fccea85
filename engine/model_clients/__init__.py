"""Clients of embedding models: the embedded one, hashing for tests, and the host that owns one."""
