"""The constants of the maze are those of MuJoCo's compiled model."""

import numpy as np
import pytest
from tests.envs.point_maze.reference import compiled, mujoco, physics, states

from dard.envs.point_maze import LARGE_STEP, ORIGINAL, large_step, original


@pytest.fixture(scope="module")
def model():
    return compiled()


def test_mass_and_inverse_weights_are_those_of_the_compiled_model(model):
    assert model.body("particle").mass[0] == pytest.approx(ORIGINAL.mass, rel=1e-14)
    # The regularisation of a contact is in units of the inverse mass.
    translation = model.body_invweight0[model.body("particle").id, 0]
    assert translation == pytest.approx(1 / ORIGINAL.mass, rel=1e-14)
    np.testing.assert_allclose(model.dof_invweight0, 1 / ORIGINAL.mass, rtol=1e-14)
    assert (model.nq, model.nv, model.nu, model.na) == (2, 2, 2, 0)


def test_options_are_those_of_the_original(model):
    option = model.opt
    assert option.timestep == 0.01
    assert option.integrator == mujoco.mjtIntegrator.mjINT_EULER
    assert not option.gravity.any()
    np.testing.assert_array_equal(model.dof_damping, 1)
    np.testing.assert_array_equal(model.actuator_gear[:, 0], 1)
    np.testing.assert_array_equal(model.actuator_ctrlrange, [[-1, 1], [-1, 1]])
    np.testing.assert_array_equal(model.geom_friction, [[0.5, 0.1, 0.1]] * 6)
    assert (model.geom_condim == 1).all()
    assert not model.jnt_limited.any()


def test_walls_stand_where_the_original_has_them(model):
    ends = {
        "south": [(-0.1, -0.1), (0.6, -0.1)],
        "north": [(-0.1, 0.6), (0.6, 0.6)],
        "west": [(-0.1, -0.1), (-0.1, 0.6)],
        "east": [(0.6, -0.1), (0.6, 0.6)],
        "barrier": [(-0.1, 0.3), (0.4, 0.3)],
    }
    for name, (start, end) in ends.items():
        wall = model.geom(name)
        length = np.linalg.norm(np.subtract(end, start))
        middle = np.append(np.mean([start, end], axis=0), 0.01)
        np.testing.assert_allclose(wall.pos, middle, atol=1e-15)
        np.testing.assert_allclose(wall.size[:2], np.array([0.02, length / 2]), rtol=1e-14)
    assert model.geom("particle").size[0] == 0.03
    np.testing.assert_array_equal(model.body("particle").pos, [0.3, 0, 0])
    np.testing.assert_array_equal(model.site("target").pos, [0.3, 0.5, 0])


def test_a_contact_has_the_margin_and_the_spring_of_the_constants(model):
    data = mujoco.MjData(model)
    # Deep enough in the southern wall for the highest impedance.
    data.qpos[1] = ORIGINAL.low + 0.045
    mujoco.mj_forward(model, data)
    assert data.ncon == 1
    assert data.contact[0].includemargin == ORIGINAL.margin
    lowest, highest, width = ORIGINAL.contact_impedance
    decay = highest * ORIGINAL.contact_time
    np.testing.assert_allclose(data.efc_KBIP[0, :3], [1 / decay**2, 2 / decay, highest])
    regularisation = (1 - highest) / highest / ORIGINAL.mass
    np.testing.assert_allclose(data.efc_R, regularisation, rtol=1e-12)
    np.testing.assert_array_equal(model.geom_solimp[0, :3], [lowest, highest, width])


def test_environments_differ_by_their_step_only_and_by_their_hash():
    assert (ORIGINAL.frame_skip, LARGE_STEP.frame_skip) == (5, 25)
    assert (ORIGINAL.duration, LARGE_STEP.duration) == pytest.approx((0.05, 0.25))
    assert original.horizon == large_step.horizon == 100
    assert original.constants_hash != large_step.constants_hash
    assert {original.name, large_step.name} == {"point-maze", "point-maze-large-step"}


def test_states_and_mujocos_are_the_same_thing():
    state = original.initial_state(np.random.default_rng(0).random((5, 2)), None)
    np.testing.assert_allclose(states(physics(state)), state, atol=1e-16)
