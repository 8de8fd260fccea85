"""Measurements of speed and memory: ``python -m tests.benchmarks``. Never part of the tests."""
