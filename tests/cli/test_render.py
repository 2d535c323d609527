"""`dard render`."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence
from tests.cli.helpers import Command

from dard.cli import movie
from dard.cli.episodes import acting, states_of
from dard.envs import ENVIRONMENTS, reacher
from dard.envs.simulation import Simulation

POLICIES = """
import numpy as np
import torch


def seek(state):
    return state[:, 24:26] - state[:, :2]


def still(state):
    return np.zeros((len(state), 2))


def noisy(state, rng):
    return rng.normal(size=(len(state), 2))


def wide(state):
    return np.zeros((len(state), 3))


def lost(state):
    return np.full((len(state), 2), np.nan)


def raising(state):
    raise RuntimeError("no such thing")


net = torch.nn.Linear(11, 2)
"""

# Takes the place of ffmpeg: writes its arguments and what it was given.
ENCODER = """#!{python}
import json, sys
data = sys.stdin.buffer.read()
json.dump([sys.argv[1:], len(data), sum(data[:30])], open(sys.argv[-1], "w"))
"""


@pytest.fixture(autouse=True)
def policies(folder: Path) -> None:
    (folder / "policies.py").write_text(POLICIES)


@pytest.fixture
def render(command: Command) -> Command:
    return lambda *arguments: command("render", *arguments, "--size", "64")


def frames(name: str) -> np.ndarray:
    with Image.open(name) as film:
        return np.array([np.array(frame.convert("RGB")) for frame in ImageSequence.Iterator(film)])


def close(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two pictures are the same, but for the few colours of a GIF."""
    return bool(np.abs(first.astype(float) - second).mean() < 1.5)


def test_a_gif_has_a_frame_for_each_state(render: Command) -> None:
    ended = render("reacher", "--steps", "5", "--policy", "policies.py:still", "--out", "a.gif")
    assert (ended.code, ended.out, ended.err) == (0, "", "written to a.gif\n")
    shown = frames("a.gif")
    simulation = Simulation(reacher.environment, seed=0)
    for frame in shown:
        assert close(frame, reacher.render(simulation.state[0], 64))
        simulation.advance(np.zeros((1, 2)))
    assert shown.shape == (6, 64, 64, 3)
    other = reacher.render(Simulation(reacher.environment, seed=1).state[0], 64)
    assert not close(shown[0], other)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environment_moves(render: Command, name: str) -> None:
    assert render(name, "--steps", "3", "--out", "a.gif").code == 0
    shown = frames("a.gif")
    assert len(shown) == 4
    assert not np.array_equal(shown[0], shown[3])


def test_episodes_follow_each_other(render: Command) -> None:
    """A whole episode of 100 steps, and 4 of the next, which begins elsewhere."""
    assert render("reacher", "--episodes", "3", "--steps", "104", "--out", "a.gif").code == 0
    simulation = Simulation(reacher.environment, seed=0)
    simulation.restart(np.array([0]))
    shown = frames("a.gif")
    assert len(shown) == 101 + 5
    assert close(shown[101], reacher.render(simulation.state[0], 64))


@pytest.mark.parametrize(
    ("episodes", "steps", "count"), [("1", "200", 101), ("2", "100", 101), ("2", "101", 103)]
)
def test_how_many_frames_there_are(render: Command, episodes: str, steps: str, count: int) -> None:
    render("reacher", "--episodes", episodes, "--steps", steps, "--out", "frames")
    assert len(list(Path("frames").iterdir())) == count


def test_an_episode_that_ends_early_is_shown_to_its_end() -> None:
    quick = replace(reacher.environment, terminated=lambda s: s[:, 0] > 0.5)
    act = acting(lambda s: np.ones((len(s), 2)), quick, 0)
    states = np.array(list(states_of(quick, act, episodes=3, steps=None, seed=0)))
    over = states[:, 0] > 0.5
    assert over.sum() == 3
    assert over[-1]
    assert (np.abs(states[1:][over[:-1], 0]) < 0.1).all()


def test_the_pace_of_a_gif(render: Command) -> None:
    render("reacher", "--steps", "2", "--fps", "10", "--out", "a.gif")
    with Image.open("a.gif") as film:
        assert film.info["duration"] == 100
        assert film.info["loop"] == 0


def test_the_seed_decides(render: Command) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        render("bouncing-balls", "--steps", "3", "--seed", seed, "--out", f"{name}.gif")
    first, again, other = (Path(f"{name}.gif").read_bytes() for name in "abc")
    assert first == again != other


def test_a_folder_of_pictures(render: Command) -> None:
    assert render("point-maze", "--steps", "2", "--out", "frames").code == 0
    names = sorted(path.name for path in Path("frames").iterdir())
    assert names == [f"frame_0000{k}.png" for k in range(3)]
    with Image.open("frames/frame_00000.png") as picture:
        state = Simulation(ENVIRONMENTS["point-maze"], seed=0).state[0]
        assert np.array_equal(np.array(picture), ENVIRONMENTS["point-maze"].render(state, 64))
    again = render("point-maze", "--steps", "2", "--out", "frames")
    assert again.code == 2
    assert "frames exists: expected a new or an empty folder" in again.err


@pytest.mark.parametrize("policy", ["uniform", "policies.py:noisy", "policies.py:net"])
def test_policies_of_every_kind(render: Command, policy: str) -> None:
    ended = render("reacher", "--policy", policy, "--steps", "2", "--out", "a.gif", "--quiet")
    assert ended == (0, "", "")
    assert len(frames("a.gif")) == 3


def test_a_policy_acts(render: Command) -> None:
    """Seeking the goal of Bouncing Balls comes nearer to it than doing nothing."""
    for policy in ("seek", "still"):
        arguments = ("--steps", "12", "--policy", f"policies.py:{policy}")
        assert render("bouncing-balls", *arguments, "--out", f"{policy}.gif").code == 0
    assert close(frames("seek.gif")[0], frames("still.gif")[0])
    assert not np.array_equal(frames("seek.gif")[12], frames("still.gif")[12])


@pytest.fixture
def encoder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = folder / "bin" / "ffmpeg"
    program.parent.mkdir()
    program.write_text(ENCODER.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program


@pytest.mark.usefixtures("encoder")
def test_an_mp4_goes_through_ffmpeg(render: Command) -> None:
    assert render("reacher", "--steps", "3", "--fps", "30", "--out", "a.mp4").code == 0
    arguments, size, some = json.loads(Path("a.mp4").read_text())
    assert size == 4 * 64 * 64 * 3
    frame = reacher.render(Simulation(reacher.environment, seed=0).state[0], 64)
    assert some == sum(frame.tobytes()[:30])
    assert arguments[arguments.index("-s") + 1] == "64x64"
    assert arguments[arguments.index("-r") + 1] == "30"


@pytest.mark.parametrize("reading", ["import sys; sys.stdin.buffer.read()", "pass"])
def test_an_encoder_that_fails(render: Command, encoder: Path, reading: str) -> None:
    """Also one that does not wait for all pictures: a broken pipe is no reason to be quiet."""
    lines = [f"#!{sys.executable}", reading, "raise SystemExit('odd\\nno codec')"]
    encoder.write_text("\n".join(lines))
    ended = render("reacher", "--out", "a.mp4")
    assert ended.code == 2
    assert "ffmpeg failed (no codec); a .gif needs none" in ended.err
    assert not Path("a.mp4").exists()


def test_without_an_encoder_a_gif_is_proposed(
    render: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(movie.shutil, "which", lambda _: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    ended = render("reacher", "--out", "clip.mp4")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert "'pip install imageio-ffmpeg' brings it, or write clip.gif" in ended.err


def test_without_pillow_the_extra_is_named(
    render: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(movie.importlib.util, "find_spec", lambda _: None)
    ended = render("reacher", "--out", "clip.gif")
    assert ended.code == 2
    assert "--out clip.gif needs pillow: pip install 'dard[plot]'" in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("chess", "--out", "a.gif"), "there is no environment 'chess'; expected bouncing-balls"),
        (("reacher", "--out", "a.png"), "expected a file name in .gif or .mp4, or without any"),
        (("reacher", "--out", "data.npz/a.gif"), "data.npz is not a folder"),
        (("reacher", "--out", "a.gif", "--policy", "best"), "there is no policy 'best'"),
        (("reacher", "--out", "a.gif", "--policy", "policies.py:wide"), "action has shape (1, 3)"),
        (("reacher", "--out", "a.gif", "--policy", "policies.py:lost"), "action holds NaN"),
        (("reacher", "--out", "a.gif", "--policy", "policies.py:raising"), "no such thing"),
        (("reacher", "--out", "a.gif", "--steps", "0"), "--steps"),
        (("reacher",), "--out"),
    ],
)
def test_errors_take_one_line_and_leave_nothing(
    command: Command, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    before = {path.name for path in folder.iterdir()}
    ended = command("render", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert {path.name for path in folder.iterdir()} - before <= {"__pycache__"}


def test_a_disk_that_cannot_be_written_to(render: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setitem(movie.WRITERS, ".gif", full)
    ended = render("reacher", "--out", "a.gif")
    assert ended.err == "error: --out a.gif cannot be written: Permission denied\n"
