"""How Sphinx builds the documentation. It needs no network."""

import os
from pathlib import Path

import dard

os.environ.setdefault("MPLBACKEND", "Agg")

HERE = Path(__file__).parent

project = "dard"
author = "the dard developers"
copyright = author  # noqa: A001 (the name that Sphinx reads)
version = release = dard.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"dard {release}"

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # numpydoc sections name the types, with shapes
autosummary_generate = True
numpydoc_show_class_members = False  # the template of class pages lists them
templates_path = ["_templates"]

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
}
suppress_warnings = ["config.cache"]  # the gallery's configuration holds functions
