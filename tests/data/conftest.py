import numpy as np
import pytest

from dard.core.transitions import Transitions


@pytest.fixture
def data() -> Transitions:
    rng = np.random.default_rng(0)
    return Transitions(
        rng.normal(size=(60, 3)),
        rng.normal(size=(60, 2)).astype(np.float32),
        rng.normal(size=(60, 3)),
        episode=np.repeat(np.arange(6), 10),
    )
