"""Objects named on a command line: ``"module:attribute"`` or ``"path/to/file.py:attribute"``."""

import difflib
import hashlib
import importlib
import importlib.util
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from dard.core.errors import ConfigurationError


def load_attribute(source: str, what: str) -> Any:
    """Import a module and return one of its attributes.

    This runs the module's code, on purpose: use it for code that you would run yourself.

    Parameters
    ----------
    source : str
        ``"module:attribute"``, where the attribute may be dotted (``"package.nets:best.reward"``),
        or ``"path/to/file.py:attribute"``, which runs that very file whatever else has its name.
    what : str
        What the object is for, e.g. ``"reward"``; error messages begin with it.

    Returns
    -------
    object
        The attribute as it is.

    Raises
    ------
    ConfigurationError
        If there is no such module, file or attribute, or if importing fails.

    Notes
    -----
    The current directory (or the file's folder) is appended to ``sys.path`` and stays there:
    imports that the loaded code makes later, and worker processes that unpickle it, must find the
    same modules. It comes last, so that no file of yours replaces a module of Python by accident.
    """
    location, _, attribute = source.rpartition(":")
    if not location or not attribute:
        raise ConfigurationError(
            f"{what} {source!r}: expected 'module:attribute' or 'path/to/file.py:attribute'"
        )
    is_file = location.endswith(".py")
    if is_file and not Path(location).is_file():
        raise ConfigurationError(f"{what} {source!r}: there is no file {location}")
    try:
        if is_file:
            module = _module_from_file(Path(location))
        else:
            _make_importable(Path.cwd())
            module = importlib.import_module(location)
    except (Exception, SystemExit) as error:
        raise ConfigurationError(f"{what} {source!r}: {_failure(location, error)}") from error
    return _attribute(module, attribute, f"{what} {source!r}")


def _module_from_file(file: Path) -> ModuleType:
    """Run `file` as a module of its own name; the same path and content run only once."""
    content, file = file.read_bytes(), file.resolve()
    digest = hashlib.sha256(bytes(file) + b"\0" + content).hexdigest()[:12]
    name = f"{re.sub(r'[^0-9A-Za-z_]', '_', file.stem)}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"Python cannot import {file}")
    _make_importable(file.parent)
    # Dataclasses and pickle look their module up while, and after, its code runs.
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _make_importable(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _failure(location: str, error: BaseException) -> str:
    """Say in one line why importing `location` failed, and where."""
    if isinstance(error, ModuleNotFoundError) and _names_part_of(location, error.name):
        return (
            f"there is no module {error.name!r}, neither installed nor in {Path.cwd()}; "
            "for a file elsewhere write 'path/to/file.py:attribute'"
        )
    message = " ".join(str(error).split())
    place = ""
    if not isinstance(error, SyntaxError):  # whose message says where already
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f" ({Path(last.filename).name}, line {last.lineno})"
    return f"importing {location} failed: {type(error).__name__}: {message}{place}"


def _names_part_of(location: str, module: str | None) -> bool:
    return module is not None and f"{location}.".startswith(f"{module}.")


def _attribute(module: ModuleType, path: str, what: str) -> Any:
    value: Any = module
    owner = f"module {module.__name__!r} ({getattr(module, '__file__', None) or 'built in'})"
    for name in path.split("."):
        if not hasattr(value, name):
            similar = difflib.get_close_matches(name, dir(value), n=3)
            hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
            raise ConfigurationError(f"{what}: {owner} has no attribute {name!r}{hint}")
        value = getattr(value, name)
        owner = repr(name)
    return value
