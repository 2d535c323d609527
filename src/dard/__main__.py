"""``python -m dard``: the `dard` command."""

from dard.cli import main

if __name__ == "__main__":
    main()
