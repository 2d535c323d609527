"""Every number of the Reacher environment."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ReacherConstants:
    """Numbers of Reacher; the physical ones are those of Gymnasium's compiled ``reacher.xml``.

    Attributes
    ----------
    time_step : float
        Seconds of one Runge-Kutta step.
    frame_skip : int
        Runge-Kutta steps in a transition.
    upper_link, forearm : float
        Metres from shoulder to elbow, and from elbow to fingertip.
    shoulder_inertia, elbow_inertia, shared_inertia, coupling_inertia : float
        a, c, m and b of the mass matrix ((a + 2 b cos q2, m + b cos q2), (m + b cos q2, c)).
    damping : float
        Torque against a joint's velocity.
    gear : float
        Torque of an action of 1.
    elbow_limit : float
        The elbow angle stays within ±elbow_limit, as far as a soft limit holds it.
    limit_impedance : tuple of float
        MuJoCo's ``solimp``: impedance at the limit, impedance deep beyond it, and the depth over
        which the one becomes the other.
    limit_time : float
        MuJoCo's ``solref``: time constant of the limit, which is critically damped.
    elbow_inverse_weight : float
        MuJoCo's ``dof_invweight0`` of the elbow: sets how far the limit yields.
    reset_angle, reset_velocity : float
        Joint angles and velocities start uniformly within ± these.
    goal_radius : float
        The goal is uniform in the disc of this radius around the shoulder.
    speed_limit : float
        An episode ends when a joint velocity leaves ± this.
    success_radius : float
        Distance of the fingertip to the goal that is rewarded.
    shaping_scale : float
        The shaping potential is this times the distance; a negative one flips its sign.
    discount : float
        Discount factor, of the metrics and of the shaping.
    horizon : int
        Steps in an episode.
    actions_per_dimension : int
        Points of the paper's action grid along each dimension.
    reachable_steps : int
        FEASIBILITY's slack: a next state is feasible if this many transitions may lead to it.
    reachable_acceleration : float
        And if no joint accelerates more: torque at full control, and damping at full speed.
    goal_tolerance : float
        And if the goal moves no further, nor any faster: room for the errors of learned models.
    noise_seed : int
        Seed of the noise that FEASIBILITY gives to infeasible transitions.
    """

    time_step: float = 0.01
    frame_skip: int = 5
    upper_link: float = 0.1
    forearm: float = 0.11
    shoulder_inertia: float = 1.0007051618870249
    elbow_inertia: float = 1.000179039365328
    shared_inertia: float = 0.00017903936532808238
    coupling_inertia: float = 0.00022410027595598514
    damping: float = 1.0
    gear: float = 200.0
    elbow_limit: float = 3.0
    limit_impedance: tuple[float, float, float] = (0.9, 0.95, 0.001)
    limit_time: float = 0.02
    elbow_inverse_weight: float = 0.9998211549602818
    reset_angle: float = 0.1
    reset_velocity: float = 0.005
    goal_radius: float = 0.2
    speed_limit: float = 50.0
    success_radius: float = 0.05
    shaping_scale: float = 10.0
    discount: float = 0.95
    horizon: int = 100
    actions_per_dimension: int = 4
    reachable_steps: int = 3
    reachable_acceleration: float = 250.0
    goal_tolerance: float = 0.01
    noise_seed: int = 0

    @property
    def duration(self) -> float:
        """Seconds of a transition."""
        return self.time_step * self.frame_skip


CONSTANTS = ReacherConstants()
