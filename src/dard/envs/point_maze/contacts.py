"""MuJoCo's soft contacts of a frictionless sphere with the walls of the maze, in closed form.

A contact asks for the acceleration of a critically damped spring along its normal; its force is
what a regularised least-squares problem (MuJoCo's convex optimisation) makes of that. At most one
upright and one level wall are near enough at a time, so that the problem has two unknowns, each
at least 0, and a formula for its solution.
"""

from dataclasses import dataclass
from typing import Any

from dard.core import arrays
from dard.envs.point_maze.constants import PointMazeConstants


@dataclass(frozen=True)
class Contact:
    """One possible contact for each row.

    `gap` is the distance beyond the margin, below 0 where the wall pushes; `x` and `y` are the
    normal's components in the plane.
    """

    gap: Any
    x: Any
    y: Any


def contact_forces(
    position: tuple[Any, Any],
    velocity: tuple[Any, Any],
    acceleration: tuple[Any, Any],
    constants: PointMazeConstants,
) -> tuple[Any, Any]:
    """Return the force of all walls, given the acceleration that there would be without them."""
    contacts = upright_wall(*position, constants), level_wall(*position, constants)
    first, second = contacts
    demands, stiffnesses = zip(
        *(_demand(contact, velocity, acceleration, constants) for contact in contacts), strict=True
    )
    # A wall that is not touched is not to be reckoned with.
    touching = (first.gap < 0.0) & (second.gap < 0.0)
    coupling = (first.x * second.x + first.y * second.y) / constants.mass
    coupling = arrays.namespace(coupling).where(touching, coupling, 0.0 * coupling)
    push = _solve(demands, stiffnesses, coupling)
    return push[0] * first.x + push[1] * second.x, push[0] * first.y + push[1] * second.y


def upright_wall(x: Any, y: Any, c: PointMazeConstants) -> Contact:
    """Return the contact with the nearer of the western and the eastern wall."""
    xp = arrays.namespace(x, y)
    across = xp.where(x < (c.low + c.high) / 2.0, x - c.low, x - c.high)
    return _contact(across, y - xp.clip(y, c.low, c.high), c)


def level_wall(x: Any, y: Any, c: PointMazeConstants) -> Contact:
    """Return the contact with the nearest of the southern wall, the barrier and the northern."""
    xp = arrays.namespace(x, y)
    beside_outer, beside_barrier = (x - xp.clip(x, c.low, end) for end in (c.high, c.barrier_end))
    south, north = y < (c.low + c.barrier) / 2.0, y > (c.barrier + c.high) / 2.0
    across = xp.where(south, y - c.low, xp.where(north, y - c.high, y - c.barrier))
    return _contact(xp.where(south | north, beside_outer, beside_barrier), across, c)


def _contact(x: Any, y: Any, c: PointMazeConstants) -> Contact:
    """Return the contact with a wall whose nearest point is x and y away."""
    # Walls lie above the plane: the normal is tilted, and its length in the plane below 1.
    distance = arrays.namespace(x, y).sqrt(x * x + y * y + c.wall_height**2)
    return Contact(distance - (c.radius + c.wall_radius + c.margin), x / distance, y / distance)


def _demand(
    contact: Contact,
    velocity: tuple[Any, Any],
    acceleration: tuple[Any, Any],
    constants: PointMazeConstants,
) -> tuple[Any, Any]:
    """Return the acceleration that a contact lacks, and acceleration per unit of its force.

    Without contact the demand is 0.
    """
    lowest, highest, width = constants.contact_impedance
    xp = arrays.namespace(contact.gap)
    ramp = xp.clip(-contact.gap / width, 0.0, 1.0)
    smooth = xp.where(ramp < 0.5, 2.0 * ramp * ramp, 1.0 - 2.0 * (1.0 - ramp) * (1.0 - ramp))
    impedance = lowest + (highest - lowest) * smooth
    decay = highest * constants.contact_time
    speed = contact.x * velocity[0] + contact.y * velocity[1]
    wanted = -(2.0 / decay) * speed - impedance * contact.gap / decay**2
    free = contact.x * acceleration[0] + contact.y * acceleration[1]
    regularisation = (1.0 - impedance) / impedance
    stiffness = (contact.x * contact.x + contact.y * contact.y + regularisation) / constants.mass
    return xp.where(contact.gap < 0.0, wanted - free, 0.0 * free), stiffness


def _solve(demands: Any, stiffnesses: Any, coupling: Any) -> tuple[Any, Any]:
    """Return the two forces, each at least 0, that meet the demands.

    The forces f solve a linear complementarity problem: ``K f >= demand``, with equality where a
    force is above 0. The matrix K, `stiffnesses` on its diagonal and `coupling` beside it, is
    positive definite, so that exactly one choice of pushing walls is consistent.
    """
    (demand1, demand2), (stiff1, stiff2) = demands, stiffnesses
    xp = arrays.namespace(demand1)
    determinant = stiff1 * stiff2 - coupling * coupling
    both1 = (stiff2 * demand1 - coupling * demand2) / determinant
    both2 = (stiff1 * demand2 - coupling * demand1) / determinant
    alone1 = xp.clip(demand1, 0.0, None) / stiff1
    alone2 = xp.clip(demand2, 0.0, None) / stiff2
    both = (both1 > 0.0) & (both2 > 0.0)
    only1 = coupling * alone1 >= demand2
    zero = 0.0 * alone1
    return (
        xp.where(both, both1, xp.where(only1, alone1, zero)),
        xp.where(both, both2, xp.where(only1, zero, alone2)),
    )
