"""The command's entry: answers --version before anything heavy is imported."""

from __future__ import annotations

import gc
import os
import sys

from planner_eval._version import __version__


def main() -> None:
    """Run ``planeval``; exits with the codes of the README."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _reserve()
    if sys.argv[1:] == ["--version"]:
        try:
            sys.stdout.write(f"planeval {__version__}\n")
            sys.stdout.flush()
            return
        except OSError:
            pass  # the command line comes to the same, and says it
    # What is read and compared holds next to no circles: looking for them takes 4 to 10 % of a command.
    gc.set_threshold(50_000, 20, 20)
    try:
        from planner_eval.cli import run

        code = run()
    except (KeyboardInterrupt, Exception) as error:  # before the command line could see to it
        if not _is_interrupt(error):
            raise
        sys.stderr.write("interrupted\n")
        code = 130
    gc.freeze()  # nor need the interpreter look for them once more as it ends: a fifth of a small command
    sys.exit(code)


def _is_interrupt(error: BaseException) -> bool:
    """Whether it is an interrupt, or what one became on its way."""
    if type(error).__name__ == "SchemaError":  # pydantic tells of one while it made a model in words alone
        return "KeyboardInterrupt" in str(error)[-40:]
    # Until Python 3.12 an interrupt while a class is made comes as the cause of a RuntimeError.
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)


def _reserve() -> None:
    """Have the numbers of streams that are closed taken, so that no file is opened under one of them.

    Standard input stays None, and to write to standard output fails; errors go nowhere.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


if __name__ == "__main__":
    main()
