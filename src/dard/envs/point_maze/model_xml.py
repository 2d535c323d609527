"""Point Maze as a model for MuJoCo: what the closed form is proven against."""

from dard.envs.point_maze.constants import ORIGINAL, PointMazeConstants

_TEMPLATE = """\
<mujoco model="point_maze">
  <compiler angle="radian"/>
  <option timestep="{time_step}" integrator="Euler" gravity="0 0 0"/>
  <default>
    <joint type="slide" damping="{damping}"/>
    <geom density="{density}" friction="{friction}" condim="1" solref="{solref}" solimp="{solimp}"/>
    <motor gear="{gear}" ctrllimited="true" ctrlrange="-1 1"/>
  </default>
  <worldbody>
    <body name="particle" pos="{start}">
      <joint name="x" axis="1 0 0"/>
      <joint name="y" axis="0 1 0"/>
      <geom name="particle" type="sphere" size="{radius}" margin="{margin}"/>
    </body>
    <site name="target" pos="{target}"/>
{walls}
  </worldbody>
  <actuator>
    <motor name="x" joint="x"/>
    <motor name="y" joint="y"/>
  </actuator>
</mujoco>
"""


def model_xml(constants: PointMazeConstants = ORIGINAL) -> str:
    """Return the MJCF model of the maze.

    Its joint positions are relative to the start. Only the sphere carries the contact margin:
    old versions of MuJoCo take the larger margin of two bodies, new ones their sum.
    """
    c = constants
    walls = {
        "south": (c.low, c.low, c.high, c.low),
        "north": (c.low, c.high, c.high, c.high),
        "west": (c.low, c.low, c.low, c.high),
        "east": (c.high, c.low, c.high, c.high),
        "barrier": (c.low, c.barrier, c.barrier_end, c.barrier),
    }
    return _TEMPLATE.format(
        time_step=c.time_step,
        damping=c.damping,
        density=c.density,
        friction=_words(*c.friction),
        solref=_words(c.contact_time, 1.0),
        solimp=_words(*c.contact_impedance),
        gear=c.gear,
        start=_words(*c.start, 0.0),
        radius=c.radius,
        margin=c.margin,
        target=_words(*c.target, 0.0),
        walls="\n".join(_wall(name, ends, c) for name, ends in walls.items()),
    )


def _wall(name: str, ends: tuple[float, float, float, float], c: PointMazeConstants) -> str:
    x1, y1, x2, y2 = ends
    line = _words(x1, y1, c.wall_height, x2, y2, c.wall_height)
    return f'    <geom name="{name}" type="capsule" size="{c.wall_radius}" fromto="{line}"/>'


def _words(*numbers: float) -> str:
    return " ".join(map(repr, numbers))
