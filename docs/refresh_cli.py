"""Run the commands in cli.md and put what they print below them.

    python docs/refresh_cli.py docs/cli.md

A `python` block that begins with a file name in a comment is saved under that name; a `console`
block holds commands after "$", each followed by its output. All of them share an empty folder.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)", re.MULTILINE)
PROGRAMS = {"dard": [sys.executable, "-m", "dard"], "python": [sys.executable]}
WIDTH = 100


def refreshed(page: str) -> str:
    """Return the page with the output of its commands as it is today."""
    with tempfile.TemporaryDirectory() as folder:

        def run_block(block: re.Match[str]) -> str:
            kind, content = block.groups()
            if kind == "python":
                name = re.match(r"# (\w+\.py)\n", content)
                if name:
                    (Path(folder) / name[1]).write_text(content, encoding="utf-8")
                return block[0]
            commands = COMMAND.findall(content)
            shown = "".join(f"$ {command}\n{output(command, folder)}" for command in commands)
            return f"```console\n{shown}```"

        return BLOCK.sub(run_block, page)


def output(command: str, folder: str) -> str:
    """Return what a command prints on both streams, without colours, at a fixed width."""
    program, *arguments = shlex.split(command.replace("\\\n", " "))
    environment = {**os.environ, "COLUMNS": str(WIDTH), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [*PROGRAMS[program], *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").splitlines())


def main() -> None:
    page = Path(sys.argv[1])
    page.write_text(refreshed(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
