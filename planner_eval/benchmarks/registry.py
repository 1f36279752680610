"""The benchmarks by name, each with the same entries: read its data, score answers, give its paper's tables.

    benchmark("callnavi").read(folder)                        samples
    benchmark("callnavi").official(records, task="routing")   what the published code says of answers
    benchmark("callnavi").corrected(records)                  what the paper says of them
    benchmark("callnavi").tables(samples)                     the paper's cells beside the recomputed ones

A new benchmark is a package of this folder with ``score_official`` and ``score_corrected``, and a row
here and in :mod:`.papers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval.base.errors import InputError

if TYPE_CHECKING:
    from planner_eval.benchmarks.nestful.win import Run
    from planner_eval.benchmarks.report import Cell, Records, Report
    from planner_eval.datasets.sample import Sample
    from planner_eval.llm import Judge

VARIANTS = ("official", "corrected")
"""As the published code computes it; as the paper defines it."""


@dataclass(frozen=True, slots=True)
class Option:
    """A setting that changes how answers are scored, given as text.

    Args:
        name: The keyword of the scoring functions.
        default: What holds when it is left out.
        choices: What it may be; where empty the benchmark itself refuses what it does not know.
        help: One line for a person.
        variants: The variants that know it; the others do without.
    """

    name: str
    default: str
    choices: tuple[str, ...]
    help: str
    variants: tuple[str, ...] = VARIANTS


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark.

    Args:
        name: Its package in this folder.
        title: As its paper spells it.
        options: What scoring can be told.
        judged: A judge decides what rules cannot.
        executed: Answers can be run.
    """

    name: str
    title: str
    options: tuple[Option, ...] = ()
    judged: bool = False
    executed: bool = False

    def read(self, folder: Path) -> Iterator[Sample]:
        """The samples that a folder of the published files holds, of every part that is there.

        Raises:
            DatasetError: the files are not there, or cannot be read.
        """
        reader = import_module(f"planner_eval.datasets.{self.name}")
        samples: Iterator[Sample] = getattr(reader, f"read_{self.name}")(folder)
        return samples

    def official(self, records: Records, **options: Any) -> Report:
        """What the published code says of answers; see :meth:`score`."""
        return self.score("official", records, **options)

    def corrected(self, records: Records, **options: Any) -> Report:
        """What the paper says of answers; see :meth:`score`."""
        return self.score("corrected", records, **options)

    def score(
        self,
        variant: str,
        records: Records,
        *,
        judge: Judge | None = None,
        run: Run | None = None,
        **options: str,
    ) -> Report:
        """Score answers under one variant.

        Args:
            variant: One of :data:`VARIANTS`.
            records: Samples of this benchmark's reader, each with the text that a model answered.
            judge: Decides what rules cannot, where :attr:`judged`; passed over elsewhere.
            run: Runs answers, where :attr:`executed`; passed over elsewhere.
            options: By name, see :attr:`options`; those that only the other variant knows are passed over.

        Raises:
            InputError: no such variant or option, or a value that an option cannot have.
        """
        if variant not in VARIANTS:
            raise InputError(f"there is no variant {variant!r}; there are {' and '.join(VARIANTS)}")
        chosen: dict[str, Any] = self.checked(variant, options)
        if self.judged:
            chosen["judge"] = judge
        if self.executed:
            chosen["run"] = run
        package = import_module(f"planner_eval.benchmarks.{self.name}")
        scorer: Callable[..., Report] = getattr(package, f"score_{variant}")
        if self.name in _ADAPTED:
            chosen = _ADAPTED[self.name](chosen)
        return scorer(records, **chosen)

    def checked(self, variant: str, options: Mapping[str, str]) -> dict[str, Any]:
        """The options that a variant knows, by name.

        Raises:
            InputError: no such option, or a value that an option cannot have.
        """
        known = {option.name: option for option in self.options}
        chosen = {}
        for name, value in options.items():
            if name not in known:
                said = f"it has {', '.join(known)}" if known else "it has none"
                raise InputError(f"{self.title} has no option {name!r}; {said}")
            option = known[name]
            if option.choices and value not in option.choices:
                said = ", ".join(option.choices)
                raise InputError(f"{self.title}'s option {name!r} is one of {said}, not {value!r}")
            if variant in option.variants:
                chosen[name] = value
        return chosen

    def tables(self, samples: Iterable[Sample]) -> list[Cell]:
        """The paper's tables of the data, each printed cell beside the one that samples give.

        Args:
            samples: Of this benchmark's reader; any part of the data.
        """
        from planner_eval.benchmarks.papers import paper_tables

        return paper_tables(self.name, list(samples))


def benchmark(name: str) -> Benchmark:
    """The benchmark of a name.

    Raises:
        InputError: there is none; names the closest.

    >>> benchmark("appbench").title
    'AppBench'
    """
    if name in BENCHMARKS:
        return BENCHMARKS[name]
    from difflib import get_close_matches

    close = get_close_matches(name.lower().replace("-", ""), BENCHMARKS, 1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(BENCHMARKS)}"
    raise InputError(f"there is no benchmark {name!r}; {hint}")


def _with_settings(options: dict[str, Any]) -> dict[str, Any]:
    """ComplexFuncBench takes its judge among its settings."""
    from planner_eval.benchmarks.complexfuncbench import Settings

    judge = options.pop("judge")
    return {**options, "settings": Settings(judge=judge)}


_ADAPTED: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"complexfuncbench": _with_settings}

_CALLNAVI = (
    Option("task", "parameters", ("parameters", "routing", "stability"), "What the answers were asked for."),
    Option("notation", "json", ("json", "yaml"), "How the answers were asked to be written."),
)
_MODEL = Option(
    "model",
    "granite-3.1-8b-instruct",
    (),
    "The model name by which the published scorer chooses one of its 16 answer formats.",
)
_RUNNER = Option(
    "runner", "gpt", (), "The family of models whose published runner held the conversations.", ("official",)
)

BENCHMARKS: Mapping[str, Benchmark] = {
    one.name: one
    for one in (
        Benchmark("appbench", "AppBench"),
        Benchmark("nestful", "NESTful", (_MODEL,), executed=True),
        Benchmark("callnavi", "CallNavi", _CALLNAVI, judged=True),
        Benchmark("complexfuncbench", "ComplexFuncBench", (_RUNNER,), judged=True),
        Benchmark("functionchat", "FunctionChat-Bench", judged=True),
    )
}
"""The benchmarks by name."""
