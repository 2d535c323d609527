"""Transitions on disk: a store of our own, and the exchange formats that people have."""

from dard.data.folder import save_transitions
from dard.data.load import load_transitions
from dard.data.parquet import save_parquet

__all__ = ["load_transitions", "save_parquet", "save_transitions"]
