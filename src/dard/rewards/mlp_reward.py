"""A reward that is a multilayer perceptron of the concatenated transition."""

from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, Self

from dard.core import arrays
from dard.core.errors import ConfigurationError, FileFormatError, RewardError
from dard.rewards import forward
from dard.rewards.files import write_bytes
from dard.rewards.inputs import COLUMNS, as_rows, checked_columns
from dard.rewards.mlp import Mlp
from dard.rewards.mlp_file import decode, encode
from dard.rewards.mlp_onnx import onnx_model


@dataclass(frozen=True, eq=False, repr=False)
class MlpReward(Mlp):
    """A multilayer perceptron of ``(state, action, next_state)``, concatenated in this order.

    It takes NumPy, PyTorch and JAX arrays and answers in the same library, on the same device,
    in the dtype of its weights. Inputs of more than two axes are flattened to rows.

    Parameters
    ----------
    layers, activation, input_mean, input_std
        As for :class:`dard.rewards.mlp.Mlp`: ``[(weight, bias), ...]``, ``"tanh"`` or
        ``"relu"``, and the normalisation of the inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from dard.rewards import MlpReward
    >>> reward = MlpReward([(np.ones((5, 1)), np.zeros(1))])  # a linear reward
    >>> reward
    MlpReward([5, 1], tanh, float64)
    >>> reward(np.ones((3, 2)), np.zeros((3, 1)), np.ones((3, 2)))
    array([4., 4., 4.])
    """

    _placed: dict[Any, forward.Parameters] = field(default_factory=dict, init=False)

    def __call__(self, state: Any, action: Any, next_state: Any, /) -> Any:
        """Return the rewards, shape (n,)."""
        columns = [as_rows(column) for column in checked_columns(state, action, next_state)]
        widths = [int(column.shape[1]) for column in columns]
        if sum(widths) != self.width:
            came = " + ".join(
                f"{name} {width}" for name, width in zip(COLUMNS, widths, strict=True)
            )
            raise RewardError(f"{self!r} reads {self.width} columns; came {came} = {sum(widths)}")
        library = arrays.library_of(columns[0])
        if library == "torch":
            return self._torch(columns)
        return self._jax(columns) if library == "jax" else forward.numpy_values(self, columns)

    def _torch(self, columns: list[Any]) -> Any:
        key = columns[0].device
        if key not in self._placed:
            self._placed[key] = forward.torch_parameters(self, columns[0])
        return forward.torch_values(self, self._placed[key], columns)

    def _jax(self, columns: list[Any]) -> Any:
        jax: Any = arrays.imported("jax")
        if isinstance(columns[0], jax.core.Tracer) or len(columns[0].devices()) > 1:
            # JAX itself decides where this runs: the weights go in as they are.
            return forward.jax_values(self, (self.normalisation, self.layers), columns)
        (key,) = columns[0].devices()
        if key not in self._placed:
            self._placed[key] = forward.jax_parameters(self, columns[0])
        return forward.jax_values(self, self._placed[key], columns)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the weights, not their copies on devices."""
        return type(self), (self.layers, self.activation, self.input_mean, self.input_std)

    def save(self, file: str | PathLike[str]) -> None:
        """Write the network to a safetensors file, or replace one, whole or not at all.

        The bytes depend on the network only. Read it back with :func:`dard.load_reward`.
        """
        if not fspath(file).endswith(".safetensors"):
            raise ConfigurationError(f"file is {fspath(file)!r}; expected a name in .safetensors")
        write_bytes(file, encode(self))

    @classmethod
    def load(cls, file: str | PathLike[str]) -> Self:
        """Read a network that :meth:`save` wrote; no code of the file is run.

        Raises
        ------
        FileFormatError
            If the file is truncated, not ours, or from a newer version.
        """
        layers, activation, input_mean, input_std = decode(file)
        try:
            return cls(layers, activation, input_mean, input_std)
        except ConfigurationError as error:
            raise FileFormatError(f"{file}: {error}") from error

    def to_onnx(
        self, file: str | PathLike[str], *, widths: tuple[int, int, int] | None = None
    ) -> None:
        """Export the network to an ONNX file (opset 17), with a batch axis of any length.

        Parameters
        ----------
        file : str or path
            Where to write; whole or not at all.
        widths : tuple of three ints, optional
            Columns of state, action and next state. Given, the model has three inputs of these
            names; otherwise one, ``transition``, the three concatenated.
        """
        if widths is not None and (sum(widths) != self.width or min(widths) < 0):
            raise ConfigurationError(f"widths is {widths}; expected a sum of {self.width}")
        if not fspath(file).endswith(".onnx"):
            raise ConfigurationError(f"file is {fspath(file)!r}; expected a name in .onnx")
        write_bytes(file, onnx_model(self, widths))
