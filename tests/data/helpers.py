"""What several test files of this room share."""

import numpy as np

from dard.core.transitions import Transitions


def assert_same(found: Transitions, expected: Transitions) -> None:
    """Compare two batches of NumPy columns bit for bit, types included."""
    for name in ("state", "action", "next_state", "episode"):
        left, right = getattr(found, name), getattr(expected, name)
        if right is None:
            assert left is None
            continue
        assert left.dtype == right.dtype, name
        np.testing.assert_array_equal(left, right, err_msg=name)


def one_line(error: BaseException) -> str:
    """Return the message of an error, which must fit on one line of a terminal's output."""
    message = str(error)
    assert "\n" not in message
    return message
