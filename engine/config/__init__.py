"""Typed settings, the folder they live in, presets and message catalogues."""
