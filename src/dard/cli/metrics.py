"""Make the metrics that the options of `dard compare` ask for."""

from collections.abc import Sequence
from dataclasses import dataclass

from dard.cli.options import EstimatorName, MetricName
from dard.cli.parse import read_actions, suggest_grid
from dard.core.attribute import load_attribute
from dard.core.callables import evaluation_mode
from dard.core.errors import ConfigurationError
from dard.core.transitions import Transitions
from dard.metrics.dard import DARD
from dard.metrics.epic import EPIC
from dard.metrics.pearson import Pearson
from dard.metrics.plan import Metric


@dataclass(frozen=True)
class MetricOptions:
    """The options that say which metrics, and how they are estimated."""

    names: Sequence[MetricName] | None
    transition_model: str | None
    actions: str | None
    discount: float
    estimator: EstimatorName
    samples: int | None
    next_states: int | None

    def build(self, data: Transitions) -> dict[str, Metric]:
        """Return the metrics by name."""
        wanted = self._wanted()
        self._refuse_unused(wanted)
        made: dict[str, Metric] = {}
        for name in wanted:
            if name == MetricName.PEARSON:
                made["Pearson"] = Pearson()
            elif name == MetricName.EPIC:
                made["EPIC"] = EPIC(self.discount, self.estimator.value, self.samples)
            else:
                made["DARD"] = self._dard(data, beside_epic=MetricName.EPIC in wanted)
        return made

    def _wanted(self) -> list[MetricName]:
        if self.names:
            return list(dict.fromkeys(self.names))
        with_model = [MetricName.DARD] if self.transition_model is not None else []
        return [MetricName.PEARSON, MetricName.EPIC, *with_model]

    def _refuse_unused(self, wanted: Sequence[MetricName]) -> None:
        if MetricName.DARD not in wanted:
            given = {
                "--transition-model": self.transition_model,
                "--actions": self.actions,
                "--next-states": self.next_states,
            }
            for flag, value in given.items():
                if value is not None:
                    raise ConfigurationError(
                        f"{flag} is for DARD, which is not among the metrics: add --metric dard "
                        "--transition-model MODEL, or leave it out"
                    )
        if self.samples is not None and not {MetricName.DARD, MetricName.EPIC} & set(wanted):
            raise ConfigurationError(
                "--samples is for DARD and EPIC, which are not among the metrics: leave it out"
            )

    def _dard(self, data: Transitions, *, beside_epic: bool) -> DARD:
        if self.transition_model is None:
            raise ConfigurationError(
                "--metric dard needs the environment's dynamics: add --transition-model "
                "module:attribute, a callable (state, action, rng) -> next_state"
            )
        if self.actions is None:
            raise ConfigurationError(
                "DARD needs the actions that it averages over: add e.g. --actions "
                f"'{suggest_grid(data)}' (the bounds of the actions in the data), a .npy file or "
                "module:attribute"
            )
        model = load_attribute(self.transition_model, "transition model")
        actions = read_actions(self.actions, data)
        samples, every_action = self.samples, self.estimator == "full" and not callable(actions)
        if every_action:
            if samples is not None and not beside_epic:
                raise ConfigurationError(
                    "--samples has no meaning for DARD with --estimator full and a finite set of "
                    "actions, of which every one is used: leave it out"
                )
            samples = None
        return DARD(
            model, actions, self.discount, self.next_states or 1, self.estimator.value, samples
        )


def evaluations(
    metrics: dict[str, Metric], data: Transitions, seed: int, rewards: int
) -> dict[str, int]:
    """Return how many reward evaluations each metric will make.

    Planning also probes transition models, so that a wrong one is found before other metrics
    have taken their time.
    """
    with evaluation_mode(
        [getattr(metric, "transition_model", None) for metric in metrics.values()]
    ):
        return {name: rewards * metric.plan(data, seed).queries for name, metric in metrics.items()}
