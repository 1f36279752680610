"""Run the measurements and print them as one table."""

import sys
import time
from importlib import import_module
from pathlib import Path


def main() -> int:
    """Run all modules of this folder, or those named on the command line."""
    folder = Path(__file__).parent
    names = sys.argv[1:] or sorted(f.stem for f in folder.glob("*.py") if not f.stem.startswith("_"))
    names = [name for name in names if name not in ("timing", "peers")]
    for name in names:
        module = import_module(f"tests.performance.{name}")
        print(f"\n## {name}: {(module.__doc__ or '').strip().splitlines()[0]}", flush=True)
        start = time.perf_counter()
        for what, measured, target in module.rows():
            print(f"{what:<72}  {measured:<36}  {target}", flush=True)
        print(f"({time.perf_counter() - start:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
