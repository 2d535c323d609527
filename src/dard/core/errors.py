"""Every error and warning that dard raises on purpose.

Each message says which parameter, what was expected, what came, and what to do. All errors derive
from :class:`DardError`, so the command line can turn them into one line and exit code 2.
"""


class DardError(Exception):
    """Base class of every error that dard raises on purpose."""


class DataError(DardError, ValueError):
    """Transitions that cannot be used: wrong lengths, mixed libraries, NaN, too few."""


class ConfigurationError(DardError, ValueError):
    """A parameter of a metric or of a call that makes no sense."""


class RewardError(DardError, ValueError):
    """A reward that raised, returned the wrong shape or NaN, or is not a function."""


class TransitionModelError(DardError, ValueError):
    """A transition model or action sampler that raised or returned something unusable."""


class FileFormatError(DardError, ValueError):
    """A file that is truncated, not what its name says, or from a newer version."""


class MissingExtraError(DardError, ImportError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}: pip install 'dard[{extra}]'")
        self.package = package
        self.extra = extra
        self.purpose = purpose

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        """Keep the error picklable, so that it survives the way back from a worker process."""
        return type(self), (self.package, self.extra, self.purpose)


class DeviceMemoryError(DardError, MemoryError):
    """The device ran out of memory even with the smallest batches."""


class DardWarning(UserWarning):
    """Base class of every warning that dard issues."""


class UndefinedDistanceWarning(DardWarning):
    """A distance that does not exist, since a reward has no variance where it was asked."""


class RoundingWarning(DardWarning):
    """A distance that is not above what rounding alone would give."""


class VarianceWarning(DardWarning):
    """A canonical variance so small that errors of the reward model decide the distance."""


class GroupingWarning(DardWarning):
    """A standard error that rests on too few, or on assumed, independent groups."""


class DataWarning(DardWarning):
    """Transitions that look recorded wrongly, e.g. across an automatic reset."""
