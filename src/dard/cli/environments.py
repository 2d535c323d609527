"""Environments and policies as they are named on the command line."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dard.core.attribute import load_attribute
from dard.core.errors import ConfigurationError

if TYPE_CHECKING:
    from dard.envs import Environment

UNIFORM = "uniform"

EnvironmentName = Annotated[
    str,
    typer.Argument(
        metavar="ENV",
        help="bouncing-balls, reacher, point-maze or point-maze-large-step; or a "
        "dard.envs.Environment of your own: module:attribute or file.py:attribute.",
        show_default=False,
    ),
]
PolicyName = Annotated[
    str,
    typer.Option(
        metavar="POLICY",
        help="'uniform', or a function (state) -> action, also (state, rng) -> action: "
        "module:attribute or file.py:attribute.",
    ),
]


def find_environment(name: str) -> "Environment":
    """Return the environment of that name, or at that place."""
    from dard.envs import ENVIRONMENTS, Environment

    if name in ENVIRONMENTS:
        return ENVIRONMENTS[name]
    if ":" not in name:
        raise ConfigurationError(
            f"there is no environment {name!r}; expected {', '.join(ENVIRONMENTS)} or "
            "module:attribute"
        )
    found = load_attribute(name, "environment")
    if not isinstance(found, Environment):
        raise ConfigurationError(
            f"environment {name!r} is {type(found).__name__}; expected a dard.envs.Environment"
        )
    return found


def find_policy(name: str) -> Any:
    """Return ``"uniform"``, or the function at that place."""
    if name == UNIFORM:
        return name
    if ":" not in name:
        raise ConfigurationError(
            f"there is no policy {name!r}; expected 'uniform', module:attribute or "
            "file.py:attribute"
        )
    return load_attribute(name, "policy")
