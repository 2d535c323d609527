"""Every number of Bouncing Balls."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """The numbers behind the functions; data carries their hash.

    The paper gives the actions, the horizon, the discount and that other balls move at random
    with low variance. The rest is chosen so that the distances that it publishes come out: goals
    as rare as they say, and inertia, without which DARD of a regressed reward stays too large.

    Attributes
    ----------
    arena : float
        Side of the square arena, which is centred on the origin.
    time_step : float
    goal_radius : float
        The agent is at its goal when it is nearer than this.
    max_speed : float
        Bound of each velocity component.
    max_acceleration : float
        Bound of each action component.
    acceleration_noise : float
        Standard deviation of each component of the other balls' accelerations.
    other_balls : int
    initial_speed : float
        Velocity components start uniformly within this; a policy sees velocities in its units.
    horizon : int
    discount : float
    actions_per_dimension : int
        DARD's action grid has the square of it.
    feasible_steps : float
        Components of a displacement count as possible up to this many steps at full speed: two
        for the states of DARD's last term, and one to spare for learned transition models.
    """

    arena: float = 60.0
    time_step: float = 0.13
    goal_radius: float = 2.0
    max_speed: float = 10.0
    max_acceleration: float = 5.0
    acceleration_noise: float = 0.5
    other_balls: int = 5
    initial_speed: float = 5.0
    horizon: int = 400
    discount: float = 0.95
    actions_per_dimension: int = 8
    feasible_steps: float = 3.0


CONSTANTS = Constants()
