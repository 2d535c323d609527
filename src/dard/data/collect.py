"""Collection: episodes of a policy in an environment, into a transition store."""

import itertools
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dard.core.callables import evaluation_mode
from dard.core.errors import ConfigurationError
from dard.core.transitions import Transitions
from dard.data import schema
from dard.data.engines import EngineName, choose_engine
from dard.data.load import load_transitions
from dard.data.manifest import read_manifest
from dard.data.policy import Policy, bind_policy, name_of
from dard.data.rollout import Rollout, Task, transitions_of
from dard.data.rollout_numpy import draw
from dard.data.simulated import Simulated
from dard.data.splits import SPLITS
from dard.data.writer import StoreWriter

MOST_EPISODES = 1 << 32
"""Episodes of one seed: JAX keys have so many numbers to fold in."""

_EPISODES_OF_SPLIT = 1 << 30
_PROBES = 32


def collect(
    environment: Simulated,
    policy: Policy | str,
    transitions: int,
    folder: str | PathLike[str],
    *,
    seed: int = 0,
    workers: int = 1,
    engine: EngineName = "auto",
    first_episode: int = 0,
    policy_name: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    resume: bool = True,
) -> Transitions:
    """Let a policy act in an environment, and store the transitions.

    Episode e is drawn from a stream of its own, keyed by (seed, e); what a policy draws is keyed by
    its shard and step. So the store is the same, byte by byte, for any number of workers and after
    any interruption, and a longer store begins with the shorter one. It is written in shards of
    whole episodes, about 131,000 transitions each: stopping this function, even by killing the
    process, loses the shards in progress, and the same call later does the rest.

    Parameters
    ----------
    environment : Environment
        One of :mod:`dard.envs`, or anything with the same functions.
    policy : callable or ``"uniform"``
        ``(state) -> action``, batch first, in NumPy, PyTorch or JAX. One that draws has a second
        parameter with the name ``rng``: a generator of its own library. ``"uniform"`` draws
        actions uniformly between their bounds. Actions out of bounds are clipped, and stored as
        they were executed.
    transitions : int
        How many to store. The last episode is cut there; an episode that the environment ends
        early ends with its last transition.
    folder : path
        The store to make, or to continue.
    seed : int, default 0
    workers : int, default 1
        Threads that make shards.
    engine : {"auto", "jax", "numpy"}, default "auto"
        ``"jax"`` compiles whole episodes; ``"numpy"`` calls the policy on the host, step by step.
        ``"auto"`` takes JAX where it is installed and can trace environment and policy. The two
        draw different numbers and round differently, so the store notes which one made it.
    first_episode : int, default 0
        Number of the first episode. Stores with other episodes of the same seed are independent.
    policy_name : str, optional
        What the store calls the policy; by default, its name in Python.
    progress : callable ``(done, total)``, optional
        Called after each shard with the transitions that this call has made, and is to make.
    resume : bool, default True
        Whether a store that is there already is continued, or refused.

    Returns
    -------
    Transitions
        The whole store, memory-mapped: float32 columns and the numbers of the episodes.

    Raises
    ------
    ConfigurationError
        For parameters that make no sense, a disk that is too small, and a folder that holds
        anything but the beginning of the same collection.
    TransitionModelError
        For a policy that raises, is no function of state and rng, or returns NaN or a wrong shape.
    """
    _check(transitions, workers, first_episode)
    if not resume and Path(folder).exists():
        raise ConfigurationError(f"{folder} exists already: choose another name, or resume=True")
    draws = draw(Task(environment, None, seed), first_episode, _PROBES)
    probe = np.astype(environment.initial_state(*draws[:2]), np.float32)
    with evaluation_mode([policy]):
        task = Task(environment, bind_policy(policy, probe), seed)
        made_by, prepared = choose_engine(task, engine)
        writer = StoreWriter(
            folder,
            environment=environment.name,
            constants_hash=environment.constants_hash,
            policy=policy_name or name_of(policy),
            seed=int(seed),
            transitions=transitions,
            provenance={
                "engine": made_by,
                "first_episode": first_episode,
                "shard_episodes": task.episodes,
            },
            like=_empty(probe, task),
        )
        if writer.written < transitions:
            _fill(writer, task, prepared(), first_episode, transitions, workers, progress)
    writer.finish()
    return load_transitions(folder)


def collect_splits(
    environment: Simulated,
    policy: Policy | str,
    sizes: Mapping[str, int],
    folder: str | PathLike[str],
    *,
    progress: Callable[[str, int, int], None] | None = None,
    **options: Any,
) -> dict[str, Transitions]:
    """Collect ``train``, ``validation`` and ``evaluation``, each a store in `folder`.

    They are of one seed and have no episode in common: those of each begin 2³⁰ after the last's.

    Parameters
    ----------
    environment, policy
        As for :func:`collect`, like all `options`.
    sizes : mapping of str to int
        Transitions of each split, e.g. ``dard.data.PAPER_SPLITS["reacher"]``.
    folder : path
        Where the three folders are made, or continued.
    progress : callable ``(split, done, total)``, optional

    Returns
    -------
    dict of str to Transitions

    See Also
    --------
    load_splits : to have them again.
    """
    if unknown := sorted({*sizes} - {*SPLITS}):
        raise ConfigurationError(f"no split {', '.join(unknown)}; there are {', '.join(SPLITS)}")
    return {
        name: collect(
            environment,
            policy,
            sizes[name],
            Path(folder) / name,
            first_episode=number * _EPISODES_OF_SPLIT,
            progress=None if progress is None else partial(progress, name),
            **options,
        )
        for number, name in enumerate(SPLITS)
        if name in sizes
    }


def collected(folder: str | PathLike[str]) -> int:
    """Return how many transitions of a collection, finished or not, are in `folder`."""
    path = Path(folder)
    return read_manifest(path).written if (path / schema.FILE_NAME).exists() else 0


def _check(transitions: int, workers: int, first_episode: int) -> None:
    for what, value, least in (
        ("transitions", transitions, 1),
        ("workers", workers, 1),
        ("first_episode", first_episode, 0),
    ):
        if not isinstance(value, int | np.integer) or value < least:
            raise ConfigurationError(
                f"{what} is {value!r}; expected an integer of at least {least}"
            )
    if first_episode + transitions > MOST_EPISODES:
        raise ConfigurationError(
            f"{transitions:,} transitions from episode {first_episode:,} on may need more than "
            f"{MOST_EPISODES:,} episodes: continue with another seed"
        )


def _empty(states: np.ndarray, task: Task) -> Transitions:
    """Return no transitions, in the columns that there will be."""
    nothing = states[:0]
    action = np.empty((0, task.action_size), np.float32)
    return Transitions(nothing, action, nothing, episode=np.empty(0, np.int64))


def _fill(
    writer: StoreWriter,
    task: Task,
    rollout: Rollout,
    first_episode: int,
    total: int,
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Append what is missing. Shards are made by threads, a few ahead, and written in order."""
    already, room = writer.written, task.episodes * task.environment.horizon
    shards = (first_episode + k * task.episodes for k in itertools.count(writer.shards))
    waiting: deque[Future[Transitions]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            while (missing := total - writer.written) > 0:
                while not waiting or (len(waiting) <= workers and len(waiting) * room < missing):
                    waiting.append(pool.submit(_shard, rollout, next(shards)))
                writer.append(waiting.popleft().result()[:missing])
                if progress is not None:
                    progress(writer.written - already, total - already)
        finally:
            for shard in waiting:
                shard.cancel()


def _shard(rollout: Rollout, first: int) -> Transitions:
    return transitions_of(rollout(first), first)
