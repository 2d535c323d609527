"""The constants of the arm, derived from MuJoCo's compiled model."""

import math

import numpy as np
import pytest
from tests.envs.reacher.reference import compiled, mujoco

from dard.envs.reacher import CONSTANTS

near = {"rel": 0, "abs": 1e-12}
ELBOW = 1


def mass_matrix(elbow_angle: float) -> np.ndarray:
    model = compiled()
    data = mujoco.MjData(model)
    data.qpos[ELBOW] = elbow_angle
    mujoco.mj_forward(model, data)
    # Column by column: the mass matrix times a unit vector.
    columns = [np.zeros(model.nv) for _ in range(2)]
    for column, unit in zip(columns, np.eye(model.nv)[:2], strict=True):
        mujoco.mj_mulM(model, data, column, unit)
    return np.stack(columns, axis=1)[:2]


@pytest.mark.parametrize("elbow_angle", [0.0, math.pi / 2, 1.0, -2.9])
def test_mass_matrix(elbow_angle):
    coupling = CONSTANTS.coupling_inertia * math.cos(elbow_angle)
    m11 = CONSTANTS.shoulder_inertia + 2 * coupling
    m12 = CONSTANTS.shared_inertia + coupling
    expected = [[m11, m12], [m12, CONSTANTS.elbow_inertia]]
    np.testing.assert_allclose(mass_matrix(elbow_angle), expected, rtol=0, atol=1e-12)


def test_inertias_are_read_off_the_mass_matrix():
    straight, bent = mass_matrix(0.0), mass_matrix(math.pi / 2)
    assert pytest.approx(bent[0, 0], **near) == CONSTANTS.shoulder_inertia
    assert pytest.approx(bent[0, 1], **near) == CONSTANTS.shared_inertia
    assert pytest.approx(bent[1, 1], **near) == CONSTANTS.elbow_inertia
    assert pytest.approx(straight[0, 1] - bent[0, 1], **near) == CONSTANTS.coupling_inertia


def test_joints_and_motors():
    model = compiled()
    assert list(model.dof_damping) == [CONSTANTS.damping, CONSTANTS.damping, 0, 0]
    assert (model.actuator_gear[:, 0] == CONSTANTS.gear).all()
    assert model.actuator_ctrlrange.tolist() == [[-1, 1], [-1, 1]]
    assert list(model.jnt_limited[:2]) == [0, 1]
    assert list(model.jnt_range[ELBOW]) == [-CONSTANTS.elbow_limit, CONSTANTS.elbow_limit]
    assert model.body("body1").pos.tolist() == [CONSTANTS.upper_link, 0, 0]
    assert model.body("fingertip").pos.tolist() == [CONSTANTS.forearm, 0, 0]


def test_goals_stay_within_the_limits_of_their_slides():
    assert (np.abs(compiled().jnt_range[2:]) > CONSTANTS.goal_radius).all()


def test_limit():
    model = compiled()
    time, damping_ratio = model.jnt_solref[ELBOW]
    lowest, highest, width, midpoint, power = model.jnt_solimp[ELBOW]
    assert (lowest, highest, width) == CONSTANTS.limit_impedance
    assert time == CONSTANTS.limit_time
    # What the closed form takes for granted: critical damping, two parabolas, no margin.
    assert (damping_ratio, midpoint, power, model.jnt_margin[ELBOW]) == (1, 0.5, 2, 0)
    weight = model.dof_invweight0[ELBOW]
    assert pytest.approx(weight, **near) == CONSTANTS.elbow_inverse_weight


def test_integration():
    model = compiled()
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
    assert model.opt.timestep == CONSTANTS.time_step
