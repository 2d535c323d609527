"""The arm of Gymnasium's Reacher in closed form, its soft joint limit included.

MuJoCo's general machinery has little to do here: gravity acts along the joints' axes and nothing
touches, so that two equations of motion and one constraint are left. They are integrated as MuJoCo
does, by Runge-Kutta of fourth order, and agree with it to rounding (and, at the limit, to the
tolerance of its solver).

A state has eleven numbers: joint angles (2), goal (2), joint velocities (2), velocities of the
goal (2, always 0) and fingertip minus goal (3, the last always 0). They are MuJoCo's positions,
velocities, and a vector that follows from them.
"""

from typing import Any

from dard.core import arrays
from dard.envs.environment import Draws
from dard.envs.reacher.constants import CONSTANTS

STATE_SIZE = 11
RESET_DRAWS = Draws(uniform=6)
STEP_DRAWS = Draws()


def initial_state(uniform: Any, normal: Any) -> Any:
    """Return the states in which episodes start.

    Joint angles and velocities are uniform around 0, the goal is uniform in a disc. Gymnasium
    draws the goal in a square until it lies in that disc; the square root of a uniform number as
    the radius gives the same distribution without a loop.

    Parameters
    ----------
    uniform : array, shape (n, 6)
        Uniform numbers in [0, 1).
    normal : array, shape (n, 0)
        Not used.
    """
    xp = arrays.namespace(uniform)
    start = 2.0 * uniform - 1.0
    radius = CONSTANTS.goal_radius * xp.sqrt(uniform[..., 4])
    angle = xp.pi * start[..., 5]
    return _state(
        CONSTANTS.reset_angle * start[..., 0],
        CONSTANTS.reset_angle * start[..., 1],
        (radius * xp.cos(angle), radius * xp.sin(angle)),
        CONSTANTS.reset_velocity * start[..., 2],
        CONSTANTS.reset_velocity * start[..., 3],
    )


def transition(state: Any, action: Any, uniform: Any, normal: Any) -> Any:
    """Return the states 0.05 s later: Reacher draws nothing, and the last two are not used.

    Actions are clipped to ±1, as Gymnasium's convention and MuJoCo's model say.
    """
    return simulate(state, action, CONSTANTS.frame_skip)


def terminated(state: Any) -> Any:
    """Return whether a joint is faster than the simulation is trusted: the episode ends."""
    xp = arrays.namespace(state)
    return xp.any(xp.abs(state[..., 4:6]) > CONSTANTS.speed_limit, axis=-1)


def simulate(state: Any, action: Any, steps: int) -> Any:
    """Return the states after some Runge-Kutta steps of 0.01 s under a constant action.

    Parameters
    ----------
    state : array, shape (n, 11)
        The result has its dtype.
    action : array, shape (n, 2)
        Motor controls, clipped to ±1.
    steps : int
        The frame skip: 5 in the paper and in `transition`, 2 in Gymnasium.
    """
    xp = arrays.namespace(state, action)
    # Widened before it is multiplied, as MuJoCo does with actions in single precision.
    torque = CONSTANTS.gear * xp.astype(xp.clip(action, -1.0, 1.0), state.dtype)
    motion = (
        *(state[..., column] for column in (0, 1, 4, 5)),
        *(torque[..., joint] for joint in (0, 1)),
    )
    if arrays.library_of(state) == "jax":
        # A loop of XLA's is compiled once for all steps: three times sooner, and runs faster.
        jax: Any = arrays.imported("jax")
        motion = jax.lax.fori_loop(0, steps, _looped_runge_kutta, motion)
    else:
        for _ in range(steps):
            motion = _runge_kutta(*motion)
    q1, q2, v1, v2, *_ = motion
    return _state(q1, q2, (state[..., 2], state[..., 3]), v1, v2)


def fingertip(q1: Any, q2: Any) -> tuple[Any, Any]:
    """Return the fingertip's coordinates x and y at these joint angles."""
    xp = arrays.namespace(q1, q2)
    upper, fore = CONSTANTS.upper_link, CONSTANTS.forearm
    return (
        upper * xp.cos(q1) + fore * xp.cos(q1 + q2),
        upper * xp.sin(q1) + fore * xp.sin(q1 + q2),
    )


def acceleration(q2: Any, v1: Any, v2: Any, torques: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the accelerations of both joints; the angle of the first does not matter.

    With the mass matrix ``((a + 2 b cos q2, m + b cos q2), (m + b cos q2, c))`` they solve::

        M (q1'', q2'') = (torque1 - v1 + b sin(q2) (2 v1 v2 + v2²),
                          torque2 - v2 - b sin(q2) v1² + torque of the limit)
    """
    xp = arrays.namespace(q2, v1, v2)
    a, b, c = CONSTANTS.shoulder_inertia, CONSTANTS.coupling_inertia, CONSTANTS.elbow_inertia
    coupling = b * xp.cos(q2)
    whirl = b * xp.sin(q2)
    m11 = a + 2.0 * coupling
    m12 = CONSTANTS.shared_inertia + coupling
    inverse = 1.0 / (c * m11 - m12 * m12)
    force1 = torques[0] - CONSTANTS.damping * v1 + whirl * v2 * (2.0 * v1 + v2)
    force2 = torques[1] - CONSTANTS.damping * v2 - whirl * v1 * v1
    free1 = (c * force1 - m12 * force2) * inverse
    free2 = (m11 * force2 - m12 * force1) * inverse
    yielding = m11 * inverse
    push = _limit_force(q2, v2, free2, yielding)
    return free1 - m12 * inverse * push, free2 + yielding * push


def _limit_force(q2: Any, v2: Any, free2: Any, yielding: Any) -> Any:
    """Return the torque of the elbow's limit: MuJoCo's soft constraint, in closed form.

    Beyond the limit MuJoCo wants the acceleration of a critically damped spring, and the
    constraint's impedance says how much of it the torque has to achieve. One constraint makes its
    optimisation problem a quotient. The torque only ever pushes back.
    """
    xp = arrays.namespace(q2, v2)
    lowest, highest, width = CONSTANTS.limit_impedance
    side = xp.sign(q2)
    depth = side * q2 - CONSTANTS.elbow_limit
    ramp = xp.clip(depth / width, 0.0, 1.0)
    smooth = xp.where(ramp < 0.5, 2.0 * ramp * ramp, 1.0 - 2.0 * (1.0 - ramp) * (1.0 - ramp))
    impedance = lowest + (highest - lowest) * smooth
    decay = highest * CONSTANTS.limit_time
    wanted = (2.0 / decay) * side * v2 + impedance * depth / decay**2
    resistance = impedance * yielding + (1.0 - impedance) * CONSTANTS.elbow_inverse_weight
    back = xp.clip(impedance * (wanted + side * free2) / resistance, 0.0, None)
    return xp.where(depth > 0.0, -side * back, 0.0)


def _looped_runge_kutta(_: Any, motion: tuple[Any, ...]) -> tuple[Any, ...]:
    return _runge_kutta(*motion)


def _runge_kutta(q1: Any, q2: Any, v1: Any, v2: Any, torque1: Any, torque2: Any) -> tuple[Any, ...]:
    """Return angles and velocities one step later, by the classical method, and the torques."""
    torques = torque1, torque2
    step, half = CONSTANTS.time_step, CONSTANTS.time_step / 2.0
    a1, a2 = acceleration(q2, v1, v2, torques)
    vb1, vb2 = v1 + half * a1, v2 + half * a2
    b1, b2 = acceleration(q2 + half * v2, vb1, vb2, torques)
    vc1, vc2 = v1 + half * b1, v2 + half * b2
    c1, c2 = acceleration(q2 + half * vb2, vc1, vc2, torques)
    vd1, vd2 = v1 + step * c1, v2 + step * c2
    d1, d2 = acceleration(q2 + step * vc2, vd1, vd2, torques)
    sixth = step / 6.0
    return (
        q1 + sixth * (v1 + 2.0 * (vb1 + vc1) + vd1),
        q2 + sixth * (v2 + 2.0 * (vb2 + vc2) + vd2),
        v1 + sixth * (a1 + 2.0 * (b1 + c1) + d1),
        v2 + sixth * (a2 + 2.0 * (b2 + c2) + d2),
        *torques,
    )


def _state(q1: Any, q2: Any, goal: tuple[Any, Any], v1: Any, v2: Any) -> Any:
    """Return the eleven columns as one array."""
    xp = arrays.namespace(q1)
    x, y = fingertip(q1, q2)
    zero = xp.zeros_like(q1)
    difference = (x - goal[0], y - goal[1], zero)
    return xp.stack([q1, q2, *goal, v1, v2, zero, zero, *difference], axis=-1)
