"""What policies see."""

from typing import Any

OBSERVATION_SIZE = 6


def observation(state: Any) -> Any:
    """Return the state itself: its numbers are at most about 1 already."""
    return state
