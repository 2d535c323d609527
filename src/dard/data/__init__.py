"""Transitions on disk: a store of our own, and the exchange formats that people have."""

from dard.data.collect import collect, collect_splits
from dard.data.folder import save_transitions
from dard.data.load import load_transitions
from dard.data.parquet import save_parquet
from dard.data.provenance import check_same_environment
from dard.data.splits import PAPER_SPLITS, load_splits
from dard.data.to_minari import save_minari
from dard.data.writer import StoreWriter

__all__ = [
    "PAPER_SPLITS",
    "StoreWriter",
    "check_same_environment",
    "collect",
    "collect_splits",
    "load_splits",
    "load_transitions",
    "save_minari",
    "save_parquet",
    "save_transitions",
]
