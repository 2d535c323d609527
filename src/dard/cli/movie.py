"""Pictures into a file: an animated GIF, an MP4, or a folder of PNGs."""

import importlib
import importlib.util
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dard.cli.output import check_file
from dard.core.errors import ConfigurationError, MissingExtraError
from dard.data.atomic import new_file, new_folder

if TYPE_CHECKING:
    from PIL.Image import Image

Writer = Callable[[Path, Iterable[np.ndarray], int], None]


def writer_for(path: Path) -> Writer:
    """Return what writes `path`, or say, before any work, why it cannot be written."""
    kind = path.suffix.lower()
    if kind not in WRITERS:
        raise ConfigurationError(
            f"--out {path}: expected a file name in .gif or .mp4, or without any suffix for a "
            "folder of .png files"
        )
    if not kind:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise ConfigurationError(f"--out {path} exists: expected a new or an empty folder")
    else:
        check_file("--out", path)
    if kind == ".mp4":
        _ffmpeg(path)
    else:
        _check_pillow(path)
    return WRITERS[kind]


def _write_gif(path: Path, frames: Iterable[np.ndarray], fps: int) -> None:
    images = map(_with_palette, frames)
    first = next(images)
    with new_file(path, 0) as partial:
        first.save(
            partial,
            format="GIF",
            save_all=True,
            append_images=images,
            duration=round(1000 / fps),
            loop=0,
            disposal=1,
        )


def _write_mp4(path: Path, frames: Iterable[np.ndarray], fps: int) -> None:
    frames = iter(frames)
    first = next(frames)
    height, width, _ = first.shape
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(fps)]
    # Most players show only pictures of even size, with colours at half the resolution.
    even = "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white"
    target = ["-vf", even, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "16"]
    command = [_ffmpeg(path), "-y", "-loglevel", "error", *source, "-i", "-", *target, "-f", "mp4"]
    with new_file(path, 0) as partial:
        encoder = subprocess.Popen(
            [*command, str(partial)], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            said = _feed(encoder, first, frames)
        except BaseException:
            encoder.kill()
            raise
        if encoder.wait():
            last = (said.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
            raise ConfigurationError(f"--out {path}: ffmpeg failed ({last}); a .gif needs none")


def _feed(
    encoder: "subprocess.Popen[bytes]", first: np.ndarray, frames: Iterable[np.ndarray]
) -> bytes:
    """Hand the frames to ffmpeg, and return what it says of errors."""
    assert encoder.stdin is not None
    assert encoder.stderr is not None
    with encoder.stderr:
        try:
            with encoder.stdin as pipe:
                pipe.write(first.tobytes())
                for frame in frames:
                    pipe.write(frame.tobytes())
        except BrokenPipeError:
            pass  # It stopped early, and says why.
        return encoder.stderr.read()


def _write_folder(path: Path, frames: Iterable[np.ndarray], fps: int) -> None:
    from PIL import Image

    with new_folder(path, 0) as partial:
        for number, frame in enumerate(frames):
            Image.fromarray(frame).save(partial / f"frame_{number:05}.png")


WRITERS: dict[str, Writer] = {".gif": _write_gif, ".mp4": _write_mp4, "": _write_folder}


def _with_palette(frame: np.ndarray) -> "Image":
    """Return a picture of 256 colours, as a GIF holds; flat areas stay flat."""
    from PIL import Image

    return Image.fromarray(frame).quantize(256, dither=Image.Dither.NONE)


def _check_pillow(path: Path) -> None:
    if importlib.util.find_spec("PIL") is None:
        raise MissingExtraError("pillow", "plot", f"--out {path}")


def _ffmpeg(path: Path) -> str:
    """Return the program that encodes videos: the system's, or that of imageio-ffmpeg."""
    if found := shutil.which("ffmpeg"):
        return found
    try:
        return importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe()
    except (ImportError, RuntimeError) as error:
        raise ConfigurationError(
            f"--out {path}: an .mp4 needs ffmpeg, which is not installed: 'pip install "
            f"imageio-ffmpeg' brings it, or write {path.with_suffix('.gif')}"
        ) from error
