"""Shelf life and how a value fades within it."""

from __future__ import annotations

import math

DAY_S = 86_400.0


def ttl_days(base_days: float, importance: float, reinforcement_count: int) -> float:
    """Shelf life in days: ``base * (0.5 + importance) * (1 + 0.5 * reinforcement_count)``."""
    return base_days * (0.5 + importance) * (1.0 + 0.5 * reinforcement_count)


def curve_value(curve: str, age_days: float, ttl_days: float) -> float:
    """What is left in [0,1] at an age: exponential ``exp(-age/ttl)``, linear
    ``max(0, 1 - age/ttl)``, step ``1 while age < ttl``. Before its time a thing is whole."""
    age = max(0.0, age_days)
    if curve == "step":
        return 1.0 if age < ttl_days else 0.0
    share = age / max(ttl_days, 1e-9)
    return math.exp(-share) if curve == "exponential" else max(0.0, 1.0 - share)
