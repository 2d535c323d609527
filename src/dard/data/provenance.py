"""Where data comes from: what every collected store says, and who may be joined with whom."""

import json
from collections.abc import Mapping
from typing import Any

from dard.core.errors import ConfigurationError, DataError
from dard.data.schema import Manifest
from dard.data.unreadable import reason

IDENTITY = ("environment", "constants_hash", "policy", "seed")


def json_table(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return provenance as it will be read back."""
    try:
        return json.loads(json.dumps(dict(provenance), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"provenance must be a dictionary that JSON can hold: {reason(error)}"
        ) from error


def check_same_environment(stores: Mapping[str, Manifest]) -> None:
    """Refuse stores of different environments, or of one with different constants.

    Parameters
    ----------
    stores : mapping of str to Manifest
        By the names that an error gives them. A store that does not say what it was made with
        may be joined with any.

    Raises
    ------
    DataError
        For the first two stores that do not belong together.
    """
    for key in ("environment", "constants_hash"):
        known = {
            name: manifest.provenance[key]
            for name, manifest in stores.items()
            if key in manifest.provenance
        }
        first = next(iter(known), "")
        for name, value in known.items():
            if value != known[first]:
                raise DataError(
                    f"{first} was made with {key} {known[first]!r} but {name} with {value!r}: "
                    "use them apart, or collect one of them again"
                )
