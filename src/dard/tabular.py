"""Exact distances between rewards given as tables: the oracle for everything that is sampled."""

from dard.metrics.tabular import (
    Coupling,
    dard,
    dard_distance,
    epic,
    epic_distance,
    pearson_distance,
)

__all__ = [
    "Coupling",
    "dard",
    "dard_distance",
    "epic",
    "epic_distance",
    "pearson_distance",
]
