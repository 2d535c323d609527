import inspect
import pickle

import pytest

from dard.core import errors
from dard.core.errors import DardError, DardWarning, MissingExtraError

CLASSES = [value for value in vars(errors).values() if inspect.isclass(value)]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_everything_derives_from_one_error_or_one_warning(kind):
    assert issubclass(kind, DardError) != issubclass(kind, DardWarning)
    assert kind.__name__.endswith("Warning") == issubclass(kind, Warning)
    assert inspect.getdoc(kind)


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        ("DataError", ValueError),
        ("ConfigurationError", ValueError),
        ("RewardError", ValueError),
        ("TransitionModelError", ValueError),
        ("FileFormatError", ValueError),
        ("MissingExtraError", ImportError),
        ("DeviceMemoryError", MemoryError),
        ("DardWarning", UserWarning),
    ],
)
def test_errors_are_caught_by_pythons_own_names_too(kind, builtin):
    assert issubclass(getattr(errors, kind), builtin)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_errors_survive_the_way_back_from_a_worker(kind):
    given = ("torch", "all", "reading x") if kind is MissingExtraError else ("what went wrong",)
    error = kind(*given)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_a_missing_extra_says_what_to_install():
    error = MissingExtraError("pyarrow", "io", "reading data.parquet")
    assert str(error) == "reading data.parquet needs pyarrow: pip install 'dard[io]'"
    assert (error.package, error.extra, error.purpose) == ("pyarrow", "io", "reading data.parquet")
