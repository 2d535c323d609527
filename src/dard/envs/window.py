"""A window that shows frames, with what comes with Python."""

import time
from types import ModuleType

import numpy as np

from dard.core.errors import ConfigurationError


class Window:
    """A window on the screen.

    Parameters
    ----------
    title : str
    fps : float
        Frames are shown no faster than so many in a second.

    Raises
    ------
    ConfigurationError
        Where there is no screen, or Python was installed without Tk.
    """

    def __init__(self, title: str, fps: float) -> None:
        tk = self._tk = _tkinter()
        try:
            self._root = tk.Tk()
        except tk.TclError as error:
            raise ConfigurationError(
                f"render_mode 'human' cannot open a window ({error}): use 'rgb_array'"
            ) from error
        self._root.title(title)
        self._root.resizable(False, False)
        self._root.protocol("WM_DELETE_WINDOW", self.close)
        self._label = tk.Label(self._root, borderwidth=0)
        self._label.pack()
        self._pause, self._due, self._open = 1 / fps, time.monotonic(), True

    def show(self, frame: np.ndarray) -> None:
        """Show a frame, once the one before was shown long enough; nothing if closed."""
        if not self._open:
            return
        time.sleep(max(0.0, self._due - time.monotonic()))
        self._due = time.monotonic() + self._pause
        height, width, _ = frame.shape
        data = b"P6 %d %d 255\n" % (width, height) + frame.tobytes()
        # Tk drops a picture that nobody refers to.
        self._picture = self._tk.PhotoImage(master=self._root, data=data, format="PPM")
        self._label.configure(image=self._picture)
        self._root.update()

    def close(self) -> None:
        """Close the window; again has no effect."""
        if self._open:
            self._open = False
            self._root.destroy()


def _tkinter() -> ModuleType:
    try:
        import tkinter as tk
    except ImportError as error:
        raise ConfigurationError(
            "render_mode 'human' needs tkinter, which this Python was installed without (a "
            "package like python3-tk has it): install it, or use 'rgb_array'"
        ) from error
    return tk
