"""How the tests run: the same examples every time, however slow the machine is."""

import os

from hypothesis import settings

# HYPOTHESIS_PROFILE=explore looks for new examples, longer.
settings.register_profile("repeat", deadline=None, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))
