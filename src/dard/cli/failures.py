"""What a command says when it fails: one line on standard error, and an exit code."""

import functools
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from dard.core.errors import DardError, DardWarning

UNEXPECTED = 1
WRONG_INPUT = 2
UNDEFINED = 3
INTERRUPTED = 130
BROKEN_PIPE = 141
"""As a shell reports programs that SIGPIPE ended."""


def reported(command: Callable[..., int]) -> Callable[..., None]:
    """Make a command out of a function that returns its exit code and may raise.

    Tracebacks are shown only where the command was called with ``debug=True``.
    """

    @functools.wraps(command)
    def guarded(*args: object, debug: bool = False, **options: object) -> None:
        try:
            with _warnings_in_one_line():
                code = command(*args, debug=debug, **options)
                sys.stdout.flush()
        except KeyboardInterrupt:
            say("interrupted")
            code = INTERRUPTED
        except BrokenPipeError:
            _forget_output()
            code = BROKEN_PIPE
        except DardError as error:
            code = _report(WRONG_INPUT, f"error: {error}", debug)
        except (Exception, SystemExit) as error:
            what = f"error: unexpected {type(error).__name__}: {error}"
            code = _report(UNEXPECTED, what if debug else f"{what} (--debug shows where)", debug)
        if code:
            raise typer.Exit(code)

    return guarded


def say(message: str) -> None:
    """Print a message in one line on standard error."""
    print(" ".join(message.split()), file=sys.stderr)


def _report(code: int, message: str, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    say(message)
    return code


def _forget_output() -> None:
    """Let Python's own flush at exit find something that takes it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Show each warning once, as ``warning: ...``, also where several metrics issue it."""
    said: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        *_: object,
    ) -> None:
        text = str(message)
        if not issubclass(category, DardWarning):
            text = f"{text} ({category.__name__}, {Path(filename).name}, line {lineno})"
        if text not in said:
            said.add(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", DardWarning)
        warnings.showwarning = show
        yield
