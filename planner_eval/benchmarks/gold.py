"""The samples that answers are scored against: a data set by name, a folder, or one of its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import DatasetError, InputError
from planner_eval.datasets.published import published, read
from planner_eval.datasets.store import place

if TYPE_CHECKING:
    from planner_eval.benchmarks.registry import Benchmark
    from planner_eval.datasets.sample import Sample

PREFIX = "dataset:"


def gold_samples(benchmark: Benchmark, source: str, *, cache: str | None = None) -> list[Sample]:
    """The samples of a gold source.

    Args:
        benchmark: Whose data it is.
        source: A folder of the published files, one of them, or the name of a data set in the cache; a
            path that exists comes first, and ``dataset:NAME`` is always the data set.
        cache: The cache folder, where it is not the usual one.

    Raises:
        InputError: nothing is there, it cannot be read, or it is another benchmark's gold.
    """
    path = Path(source)
    try:
        if not source.startswith(PREFIX) and path.exists():
            samples = list(_of_file(benchmark, path) if path.is_file() else benchmark.read(path))
        else:
            samples = _of_cache(benchmark, source.removeprefix(PREFIX), cache)
    except DatasetError:
        looks = _looks_like(path) if path.is_file() else None
        if looks and looks != benchmark.name:
            raise InputError(f"{source} is gold of {looks}, not of {benchmark.name}") from None
        raise
    _check(benchmark, source, samples)
    return samples


def _of_cache(benchmark: Benchmark, name: str, cache: str | None) -> list[Sample]:
    named = [one for one in published().values() if name in (one.name, one.benchmark)]
    if not named:
        raise InputError(f"{name}: there is no such file, folder or data set")
    sets = [one for one in named if one.benchmark == benchmark.name]
    if not sets:
        raise InputError(
            f"{name} is a data set of {named[0].benchmark or 'no benchmark'}, not of {benchmark.name}"
        )
    found, missing = [], []
    for one in sets:
        try:
            found += list(read(one, place(one, cache=cache)))
        except DatasetError as problem:
            missing.append(str(problem))
    if not found:
        fetch = " ".join(one.name for one in sets)
        raise DatasetError(
            f"{'; '.join(missing)}\n'planeval data fetch {fetch}' fetches it; or name its folder"
        )
    return found


def _of_file(benchmark: Benchmark, path: Path) -> Iterator[Sample]:
    """The samples of one published file."""
    return _FILES[benchmark.name](path)


def _appbench(path: Path) -> Iterator[Sample]:
    from planner_eval.datasets.appbench import read_appbench

    named = re.fullmatch(r"test_(\w+)\.json", path.name)
    if not named:
        raise DatasetError(f"{path}: AppBench's files are called test_ss.json, test_sm.json …")
    return read_appbench(path.parent, part=named[1])


def _nestful(path: Path) -> Iterator[Sample]:
    from planner_eval.datasets.nestful import FIRST, read_nestful

    for part, name in FIRST.items():
        if path.name == f"{name.rpartition('/')[2]}-data.json":
            return (sample for sample in read_nestful(path.parent.parent, part=part))
    return read_nestful(path)


def _callnavi(path: Path) -> Iterator[Sample]:
    from planner_eval.datasets.callnavi import DOMAINS, read_callnavi

    if path.parent.name != "Questions" or path.stem not in DOMAINS:
        raise DatasetError(
            f"{path}: CallNavi's files are called Questions/bank.json, Questions/shopping.json …"
        )
    return (sample for sample in read_callnavi(path.parent.parent) if sample.category == path.stem)


def _functionchat(path: Path) -> Iterator[Sample]:
    from planner_eval.datasets.functionchat import FILES, read_functionchat

    parts = [part for part, name in FILES.items() if name == path.name]
    if not parts:
        raise DatasetError(f"{path}: FunctionChat-Bench's files are called {', '.join(FILES.values())}")
    return read_functionchat(path.parent, part=parts[0])


def _complexfuncbench(path: Path) -> Iterator[Sample]:
    from planner_eval.datasets.complexfuncbench import read_complexfuncbench

    return read_complexfuncbench(path)


_FILES: Mapping[str, Callable[[Path], Iterator[Sample]]] = {
    "appbench": _appbench,
    "callnavi": _callnavi,
    "complexfuncbench": _complexfuncbench,
    "functionchat": _functionchat,
    "nestful": _nestful,
}


def _check(benchmark: Benchmark, source: str, samples: Sequence[Sample]) -> None:
    """Refuse gold of which no record has the shape of this benchmark's gold."""
    if not samples:
        raise InputError(f"{source} holds no samples")
    if any(_FITS[benchmark.name](sample.gold) for sample in samples):
        return
    looks = next((name for name, fits in _FITS.items() if any(fits(sample.gold) for sample in samples)), None)
    what = f"it looks like gold of {looks}" if looks else "no benchmark's gold looks like this"
    raise InputError(f"{source} is no gold of {benchmark.name}: {what}")


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda gold: isinstance(gold, dict) and all(key in gold for key in keys)


def _all_have(*keys: str) -> Callable[[Any], bool]:
    fits = _has(*keys)
    return lambda gold: isinstance(gold, list) and bool(gold) and all(map(fits, gold))


_FITS: Mapping[str, Callable[[Any], bool]] = {
    "appbench": _has("api_results"),
    "callnavi": _has("API"),
    "complexfuncbench": _all_have("role"),
    "nestful": _all_have("name", "arguments"),
    "functionchat": lambda gold: _has("name", "arguments")(gold) or _has("role")(gold),
}


def _looks_like(path: Path) -> str | None:
    """The benchmark whose records a file seems to hold, by the fields in its beginning."""
    try:
        with path.open(encoding="utf-8") as stream:
            head = stream.read(20_000)
    except (OSError, ValueError):
        return None
    return next((name for name, signs in _SIGNS.items() if any(f'"{sign}"' in head for sign in signs)), None)


_SIGNS = {
    "appbench": ("api_results",),
    "complexfuncbench": ("conversations",),
    "functionchat": ("function_num", "dialog_num", "input_messages"),
    "callnavi": ("API",),
    "nestful": ("gold_answer", "var_result"),
}
