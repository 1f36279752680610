"""The command's entry: answers --version before anything heavy is imported."""

from __future__ import annotations

import gc
import sys

from planner_eval._version import __version__


def main() -> None:
    """Run ``planeval``; exits with the codes of the README."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"planeval {__version__}\n")
        return
    # What is read and compared holds next to no circles: looking for them takes 4 to 10 % of a command.
    gc.set_threshold(50_000, 20, 20)
    try:
        from planner_eval.cli import run

        code = run()
    except (KeyboardInterrupt, RuntimeError) as error:  # before the command line could see to it
        # Until Python 3.12 an interrupt while a class is made comes as the cause of a RuntimeError.
        if isinstance(error, RuntimeError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        sys.stderr.write("interrupted\n")
        code = 130
    gc.freeze()  # nor need the interpreter look for them once more as it ends: a fifth of a small command
    sys.exit(code)


if __name__ == "__main__":
    main()
