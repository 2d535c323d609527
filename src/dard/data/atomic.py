"""Files and folders that appear under their name complete, or not at all."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from dard.core.errors import ConfigurationError

PARTIAL = ".partial"
"""Suffix of what is being written; it stays behind only where a process was killed outright."""


@contextmanager
def new_folder(folder: Path, needed: int, *, durable: bool = True) -> Iterator[Path]:
    """Give an empty folder to write into, which becomes `folder` when the block succeeds.

    An existing `folder` is replaced, so callers check first whether they may. `needed` is the
    number of bytes to be written; too little free space is an error before anything is written.
    Without `durable` it is left to the system when the content gets to the disk.
    """
    folder = folder.resolve()
    temporary = _prepare(folder, needed)
    temporary.mkdir()
    try:
        with disk_errors(folder):
            yield temporary
            if durable:
                sync_content(temporary)
            move_into_place(temporary, folder)
    except BaseException:  # KeyboardInterrupt too: nothing half-written may stay
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    if durable:
        sync(folder.parent)


@contextmanager
def new_file(path: Path, needed: int) -> Iterator[Path]:
    """Give a path to write to, which becomes `path` when the block succeeds."""
    path = path.resolve()
    temporary = _prepare(path, needed)
    try:
        with disk_errors(path):
            yield temporary
            sync(temporary)
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def replace_text(path: Path, text: str) -> None:
    """Replace a small file at once; when it gets to the disk is left to the system.

    Waiting for that would have most file systems put all else on the disk first.
    """
    temporary = _temporary(path)
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_partial(folder: Path) -> None:
    """Remove what a killed process left half-written in `folder`."""
    for path in folder.glob(f".*{PARTIAL}"):
        path.unlink()


def _prepare(target: Path, needed: int) -> Path:
    """Return a free name beside `target`, on the same disk, where renaming is atomic."""
    target.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(target.parent).free
    if free < needed:
        raise ConfigurationError(
            f"{target} needs {needed:,} bytes but its disk has {free:,} free: "
            "make room or save elsewhere"
        )
    return _temporary(target)


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}{PARTIAL}")


def move_into_place(temporary: Path, folder: Path) -> None:
    """Rename `temporary` to `folder`; what was there is put aside first, then deleted.

    A folder with content cannot be renamed over, so there is a moment with neither. Should the
    process die in it, the old content is still beside, under a name that says what it is.
    """
    if not folder.exists():
        temporary.rename(folder)
        return
    aside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.replaced")
    folder.rename(aside)
    try:
        temporary.rename(folder)
    except BaseException:
        aside.rename(folder)
        raise
    shutil.rmtree(aside)


@contextmanager
def disk_errors(
    target: Path, what_now: str = "and nothing was left behind: make room or save elsewhere"
) -> Iterator[None]:
    """Say of a disk that fills up in the block what became of `target`, and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ConfigurationError(
            f"the disk filled up while {target} was written, {what_now}"
        ) from error


def sync(path: Path) -> None:
    """Have the operating system put `path` on the disk, so that a power cut cannot undo it."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open folders
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_content(folder: Path) -> None:
    """Do so with a folder and its files, which is faster for all at once than in turn."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(sync, folder.iterdir()))
    sync(folder)
