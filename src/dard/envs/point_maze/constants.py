"""Every number of Point Maze, in its original form and with larger steps."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PointMazeConstants:
    """Numbers of Point Maze: EPIC's ``PointMazeLeftVel``.

    Attributes
    ----------
    time_step : float
        Seconds of one Euler step.
    frame_skip : int
        Euler steps in a transition.
    radius, density : float
        Of the sphere, in metres and kilograms per cubic metre.
    damping : float
        Force against the sphere's velocity.
    gear : float
        Force of an action of 1.
    wall_radius : float
        Walls are capsules of this radius.
    wall_height : float
        And lie this much above the plane in which the sphere's centre moves.
    margin : float
        Walls push from this distance on.
    low, high : float
        Ends of the four outer walls, in both coordinates.
    barrier, barrier_end : float
        The barrier runs along y = barrier, from x = low to x = barrier_end.
    contact_impedance : tuple of float
        MuJoCo's ``solimp``: impedance at the margin, impedance deep beyond it, and the depth over
        which the one becomes the other.
    contact_time : float
        MuJoCo's ``solref``: time constant of contacts, which are critically damped.
    friction : tuple of float
        Of contacts; has no effect, since they resist along their normal only (``condim`` 1).
    start, target : tuple of float
        Where the sphere starts, and where it shall go.
    reset_velocity : float
        Both velocities start uniformly within ± this.
    effort : float
        Weight of the squared action in the rewards.
    shaping_scale : float
        The shaping potential is this times the distance to the target.
    discount : float
        Discount factor, of the metrics and of the shaping.
    horizon : int
        Steps in an episode.
    actions_per_dimension : int
        Points of the action grid along each dimension.
    reachable_steps : float
        FEASIBILITY's slack: a next state is feasible within the way of this many transitions.
    noise_seed : int
        Seed of the noise that FEASIBILITY gives to infeasible transitions.
    """

    time_step: float = 0.01
    frame_skip: int = 5
    radius: float = 0.03
    density: float = 1000.0
    damping: float = 1.0
    gear: float = 1.0
    wall_radius: float = 0.02
    wall_height: float = 0.01
    margin: float = 0.002
    low: float = -0.1
    high: float = 0.6
    barrier: float = 0.3
    barrier_end: float = 0.4
    contact_impedance: tuple[float, float, float] = (0.9, 0.95, 0.001)
    contact_time: float = 0.02
    friction: tuple[float, float, float] = (0.5, 0.1, 0.1)
    start: tuple[float, float] = (0.3, 0.0)
    target: tuple[float, float] = (0.3, 0.5)
    reset_velocity: float = 0.01
    effort: float = 0.001
    shaping_scale: float = -10.0
    discount: float = 0.99
    horizon: int = 100
    actions_per_dimension: int = 4
    reachable_steps: float = 2.1
    noise_seed: int = 0

    @property
    def mass(self) -> float:
        """Mass of the sphere."""
        return self.density * 4.0 / 3.0 * math.pi * self.radius**3

    @property
    def duration(self) -> float:
        """Seconds of a transition."""
        return self.time_step * self.frame_skip

    @property
    def top_speed(self) -> float:
        """Speed at which the damping eats both motors' full force."""
        return math.sqrt(2.0) * self.gear / self.damping


ORIGINAL = PointMazeConstants()
LARGE_STEP = PointMazeConstants(frame_skip=25)
