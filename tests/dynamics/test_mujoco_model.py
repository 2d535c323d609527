"""MuJoCo as a transition model gives what stepping MuJoCo one simulation at a time gives."""

import functools
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import jax.numpy as jnp
import mujoco as _mujoco
import numpy as np
import pytest
import torch

import dard
from dard import dynamics
from dard.dynamics import simulator
from dard.envs import point_maze, reacher
from dard.envs.reacher.dynamics import fingertip
from dard.testing import check_transition_model

# What is compiled in it is unknown to type checkers.
mujoco: Any = _mujoco

REACHER = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "reacher.xml"
MUSCLE = """
<mujoco>
  <option timestep="0.02"/>
  <worldbody>
    <body><joint name="rail" type="slide" axis="1 0 0"/><geom size="1" mass="2"/></body>
  </worldbody>
  <actuator><general joint="rail" dyntype="filter" dynprm="0.5"/></actuator>
</mujoco>
"""


def some_states(rows, seed=0):
    """Return states of Reacher (joint angles beyond the limit among them) and actions."""
    rng = np.random.default_rng(seed)
    state = rng.normal(0, 2, (rows, 8)) * [1, 1, 0.05, 0.05, 5, 5, 0, 0]
    return state, rng.uniform(-1.5, 1.5, (rows, 2))


def one_at_a_time(model, state, action, steps):
    after = []
    for row, control in zip(state, action, strict=True):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = row[: model.nq], row[model.nq : model.nq + model.nv]
        data.act[:] = row[model.nq + model.nv :]
        data.ctrl[:] = control
        for _ in range(steps):
            mujoco.mj_step(model, data)
        after.append(np.concatenate([data.qpos, data.qvel, data.act]))
    return np.array(after)


@pytest.fixture
def model():
    with dynamics.mujoco(REACHER, 5, threads=2) as model:
        yield model


def test_a_batch_is_what_single_simulations_give(model):
    state, action = some_states(2000)
    expected = one_at_a_time(model.simulator.model, state, action, 5)
    np.testing.assert_array_equal(model(state, action), expected)
    assert not np.array_equal(one_at_a_time(model.simulator.model, state, action, 4), expected)


@pytest.mark.parametrize("threads", [1, 3, None])
def test_the_number_of_threads_does_not_matter(model, threads):
    state, action = some_states(501)
    with dynamics.mujoco(str(REACHER), 5, threads=threads) as other:
        np.testing.assert_array_equal(other(state, action), model(state, action))


def test_neither_do_the_blocks_that_bound_memory(model, monkeypatch):
    state, action = some_states(501)
    expected = model(state, action)
    monkeypatch.setattr(simulator, "_NUMBERS_AT_A_TIME", 5 * 9 * 100)
    np.testing.assert_array_equal(model(state, action), expected)
    assert model(state[:0], action[:0]).shape == (0, 8)


def test_activations_are_part_of_the_state():
    rng = np.random.default_rng(0)
    state, action = rng.normal(size=(50, 3)), rng.normal(size=(50, 1))
    with dynamics.mujoco(MUSCLE, 4) as model:
        after = model(state, action)
        expected = one_at_a_time(model.simulator.model, state, action, 4)
    np.testing.assert_array_equal(after, expected)
    assert (after[:, 2] != state[:, 2]).all()


def test_it_keeps_the_contract_of_transition_models(model):
    state, action = some_states(100)
    check_transition_model(model, dard.Transitions(state, action, state))


def to_physics(state):
    return state[:, :8]


def from_physics(physics):
    x, y = fingertip(physics[:, 0], physics[:, 1])
    difference = np.stack([x - physics[:, 2], y - physics[:, 3], 0 * x], axis=1)
    return np.concatenate([physics, difference], axis=1)


def test_mappings_make_it_the_simulator_of_any_state():
    environment = reacher.environment
    rng = np.random.default_rng(0)
    draws = rng.random((200, environment.reset_draws.uniform))
    state = environment.initial_state(draws, np.zeros((200, environment.reset_draws.normal)))
    action = rng.uniform(-1, 1, (200, 2))
    with dynamics.mujoco(
        REACHER, 5, to_physics=to_physics, from_physics=from_physics, threads=1
    ) as model:
        after = model(state, action)
    expected = environment.transition_model(state, action, None)
    np.testing.assert_allclose(after, expected, atol=1e-12)


def test_it_takes_the_maze_as_text():
    rng = np.random.default_rng(0)
    state = point_maze.initial_state(rng.random((200, 2)), None)
    action = rng.uniform(-1, 1, (200, 2))
    # The model's positions are relative to the start.
    place = state[:, :2] - point_maze.ORIGINAL.start
    with dynamics.mujoco(point_maze.model_xml(), 5) as model:
        after = model(np.concatenate([place, state[:, 3:5]], axis=1), action)
    expected = point_maze.transition(state, action, None, None)
    np.testing.assert_allclose(after[:, 2:], expected[:, 3:5], atol=1e-12)


def test_any_library_may_bring_the_states(model):
    state, action = (part.astype(np.float32) for part in some_states(20))
    expected = model(state, action)
    assert expected.dtype == np.float32
    for library in (torch.tensor, jnp.asarray):
        after = model(library(state), library(action), None)
        assert isinstance(after, np.ndarray)
        np.testing.assert_array_equal(after, expected)


def test_dard_can_be_asked_with_it_in_another_library(model):
    state, action = some_states(60)
    data = dard.Transitions(state, action, model(state, action))
    metric = dard.DARD(model, dard.action_grid([-1, -1], [1, 1], 2))

    def effort(state, action, next_state):
        return (action**2).sum(-1) + next_state[:, 0]

    def goal(state, action, next_state):
        return (next_state[:, :2] ** 2).sum(-1) ** 0.5

    expected = dard.distance(goal, effort, data, metric)
    moved = dard.Transitions(*(torch.tensor(x) for x in (data.state, data.action, data.next_state)))
    assert dard.distance(goal, effort, moved, metric).value == pytest.approx(
        expected.value, rel=1e-6
    )


@pytest.mark.parametrize("source", [REACHER, REACHER.read_text()], ids=["file", "text"])
def test_a_copy_in_another_process_gives_the_same(source):
    state, action = some_states(20)
    with dynamics.mujoco(source, 2, to_physics=to_physics, threads=2) as model:
        expected = model(state, action)
        with pickle.loads(pickle.dumps(model)) as copy:
            assert (copy.simulator.frame_skip, copy.simulator.threads) == (2, 2)
            np.testing.assert_array_equal(copy(state, action), expected)


def test_threads_live_between_calls_and_end_when_closed():
    tasks = Path("/proc/self/task")
    count = functools.partial(lambda: len(list(tasks.iterdir())))
    state, action = some_states(20)
    before = count()
    model = dynamics.mujoco(REACHER, 5, threads=7)
    assert count() == before
    expected = model(state, action)
    assert count() == before + 7
    model(state, action)
    assert count() == before + 7
    model.close()
    assert count() == before
    np.testing.assert_array_equal(model(state, action), expected)
    del model
    assert count() == before


FORK = """
import os, signal, sys
import numpy as np
from dard import dynamics

model = dynamics.mujoco(sys.argv[1], 5, threads=2)
state, action = np.zeros((10, 8)), np.ones((10, 2))
expected = model(state, action)
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(0 if (model(state, action) == expected).all() else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_it_works_in_a_forked_process():
    done = subprocess.run([sys.executable, "-c", FORK, REACHER], check=False)
    assert done.returncode == 0
