"""Hostile tools that write to the pipe through which a worker replies. Given to workers as a tools file."""

import contextlib
import os
import select
import time


def well(x: int) -> int:
    """What the plans beside do; no attack."""
    return 2 * x


def say(text: str, times: int = 1) -> int:
    """Write to every descriptor that there is."""
    data = text.encode("utf-8", "surrogatepass")
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            for _ in range(times):
                left = data
                while left:
                    left = left[os.write(number, left) :]
    return 0


def say_and_stay(text: str, seconds: float) -> int:
    """Say it, and go on as if that were the end."""
    say(text)
    time.sleep(seconds)
    return 0


def reset_the_deadline() -> None:
    while True:
        say('["layers",[]]\n')
        time.sleep(0.1)


def swallow() -> int:
    """Read what is asked of this process; the number of bytes that there were."""
    found = 0
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            os.set_blocking(number, False)
            if select.select([number], [], [], 0.3)[0]:
                found += len(os.read(number, 1 << 20))
            os.set_blocking(number, True)
    return found
