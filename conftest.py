"""Tests that live in prose: the code blocks of the pages and the examples in docstrings."""

import os
import tempfile
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from pathlib import Path
from typing import Any

if "PYTEST_XDIST_WORKER" in os.environ:
    # Several processes share the cores: more threads in each would only fight over them. The
    # libraries read this when they are first imported, so it is said before any test is.
    for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(_name, "1")
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("MPLBACKEND", "Agg")

from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.doctest import DocTestParser
from sybil.parsers.myst import PythonCodeBlockParser

OPTIONS = ELLIPSIS | NORMALIZE_WHITESPACE


def enter_empty_folder(namespace: dict[str, Any]) -> None:
    """Let a page write its files where nobody minds."""
    namespace["_folder"] = tempfile.TemporaryDirectory()
    namespace["_home"] = Path.cwd()
    os.chdir(namespace["_folder"].name)


def leave_empty_folder(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_home"])
    namespace["_folder"].cleanup()


pages = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=OPTIONS)],
    patterns=["README.md", "docs/*.md"],
    setup=enter_empty_folder,
    teardown=leave_empty_folder,
)
docstrings = Sybil(
    parsers=[DocTestParser(OPTIONS)],
    path="src",
    patterns=["*.py"],
    document_types={".py": PythonDocStringDocument},
)
pytest_collect_file = (pages + docstrings).pytest()
