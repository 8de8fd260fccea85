"""Measuring recall on questions whose answers are known: measures, sets, runs, weight search."""
