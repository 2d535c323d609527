"""The `dard` command."""

from collections.abc import Sequence
from typing import Annotated

import typer

import dard
from dard.cli.collect import EXAMPLES as COLLECT_EXAMPLES
from dard.cli.collect import collect
from dard.cli.compare import EXAMPLES as COMPARE_EXAMPLES
from dard.cli.compare import compare
from dard.cli.failures import reported
from dard.cli.info import EXAMPLES as INFO_EXAMPLES
from dard.cli.info import info
from dard.cli.render import EXAMPLES as RENDER_EXAMPLES
from dard.cli.render import render

app = typer.Typer(
    name="dard",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="'dard COMMAND --help' shows examples.",
)
app.command(epilog=COMPARE_EXAMPLES)(reported(compare))
app.command(epilog=INFO_EXAMPLES)(reported(info))
app.command(epilog=COLLECT_EXAMPLES)(reported(collect))
app.command(epilog=RENDER_EXAMPLES)(reported(render))


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"dard {dard.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Compare reward functions without training a policy."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the `dard` command and exit.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``dard`` on the command line; by default that of this process.

    Raises
    ------
    SystemExit
        Always: 0 for success, 2 for an error in what was asked or given, 3 where a distance is
        undefined, 1 for an unexpected failure, 130 after Ctrl-C, 141 where nobody read the output.
    """
    app(args=None if arguments is None else list(arguments), prog_name="dard")
