"""The command's entry: answers --version before anything heavy is imported."""

from __future__ import annotations

import sys

from planner_eval._version import __version__


def main() -> None:
    """Run ``planeval``; exits with the codes of the README."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"planeval {__version__}\n")
        return
    from planner_eval.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
