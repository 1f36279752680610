"""A run made ready: samples, pipeline, jobs, and what a later run has to share to go on with it."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import partial
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_eval._version import __version__
from planner_eval.base.errors import (
    COUNT,
    NAME,
    NAMES,
    PATH,
    InputError,
    expect,
    expect_or_none,
    instance_of,
)
from planner_eval.base.text import did_you_mean, format_count
from planner_eval.benchmarks.benchmark import asking_of
from planner_eval.benchmarks.benchmark import benchmark as benchmark_of
from planner_eval.benchmarks.datasets.published import Sample, load_json
from planner_eval.catalogs.formats import read_catalog
from planner_eval.models.pipelines.agent_pipelines import (
    benchmark_caller,
    run_example,
    simulated_api,
    tool_runner,
)
from planner_eval.models.pipelines.candidates import (
    DISTRACTORS_MARK,
    OfferedTools,
    ToolChoice,
    ToolChooser,
    too_few_tools_message,
    tool_chooser,
)
from planner_eval.models.pipelines.demonstrations import (
    LEAK_MARK,
    USED_OPTIONS,
    Pool,
    Shot,
    ShotOptions,
    gold_apps,
    gold_call_texts,
    near_duplicate_messages,
    read_pool,
    shots_data,
    too_few_shots_message,
)
from planner_eval.models.pipelines.pipeline import (
    OWN_TASKS,
    Pipeline,
    Request,
    Steps,
    Task,
    digest,
    visible_task,
)
from planner_eval.models.pipelines.registry import DEFAULT_PIPELINES
from planner_eval.models.pipelines.registry import pipeline as find_pipeline
from planner_eval.models.pipelines.replies import refuse_setup
from planner_eval.models.pipelines.setup import Example, Prompts, Setup
from planner_eval.models.pipelines.tool_lists import catalog_of
from planner_eval.models.predict.run import Job, Row
from planner_eval.models.predict.tasks import Tasks, read_tasks
from planner_eval.reading.files.context import DEMONSTRATIONS_FIELD, TEST_SET_MARK, Demonstrations

if TYPE_CHECKING:
    from planner_eval.execution.sandbox.sandbox import Sandbox


_DEFAULT_SETUP = Setup()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that can begin.

    Args:
        form: The data set.
        pipeline: How it is asked.
        setup: What the pipeline is told.
        samples: The samples, in order.
        tasks: What may be seen of each; a sentence where it cannot be asked at all.
        source: Where the samples come from, in the user's words; "" for nowhere.
        pool: The demonstrations that are chosen from; None where none are shown.
        choice: Which tools were chosen; None for those that the samples have.
        offers: What was chosen, by the sample's id.
        every: The ids of all samples that there are, in their order; these may be a part of them.
        golds: The calls of gold plans by the sample's id, which are looked for in demonstrations; nothing
            that is asked depends on them.
        chosen: The demonstrations that were chosen so far, by the sample's id and question.
        cache: The cache folder of data sets, where it is not the usual one.
        unasked: Which samples the pipeline cannot ask, and why, in words.
    """

    form: str
    pipeline: Pipeline
    setup: Setup
    samples: tuple[Sample, ...]
    tasks: tuple[Task | str, ...]
    source: str
    pool: Pool | None
    choice: ToolChoice | None
    offers: Mapping[str, OfferedTools] = field(default_factory=dict)
    every: tuple[str, ...] = ()
    golds: Mapping[str, Sequence[str]] = field(default_factory=dict)
    chosen: dict[tuple[str, str], tuple[Shot, ...]] = field(default_factory=dict, repr=False, compare=False)
    cache: str | None = None
    unasked: tuple[str, ...] = ()

    @property
    def notes(self) -> list[str]:
        """What people should know of the run before it begins."""
        pool, name = self.pool, self.pipeline.name
        notes: list[str | None] = [*self.unasked, *self.setup.prompts.notes]
        if pool is not None:
            notes += [*pool.notes, *near_duplicate_messages(pool, self.samples)]
        if self.choice is not None:
            notes.append(too_few_tools_message(self.choice, self.offers))
        if pool is not None and name not in ("react", "isolated"):
            counts = {s.id: pool.there(s.query, self._leaked_apps(pool, s)) for s in self.samples}
            notes.append(too_few_shots_message(pool, counts))
        if name != "react":
            notes.append(self._marked())
        return [*filter(None, notes)]

    @property
    def demonstrations(self) -> Demonstrations | None:
        """Where demonstrations come from, and what those that were chosen show of gold; None without any."""
        if self.pool is None:
            return None
        demonstrations = Demonstrations(self.pool.source, len(self.pool.shots), self.pool.tested)
        return demonstrations.with_rows(self.beside(sample) for sample in self.samples)

    def beside(self, sample: Sample) -> Row:
        """What a sample's row says of the demonstrations that were chosen for it."""
        shots = self.chosen.get((sample.id, sample.query))
        return {} if shots is None else {DEMONSTRATIONS_FIELD: shots_data(shots, self.golds.get(sample.id))}

    def _marked(self) -> str | None:
        """Says that demonstrations share answers with the test set, where they do."""
        pool, demonstrations = self.pool, self.demonstrations
        if pool is None or demonstrations is None or not demonstrations.mark:
            return None
        other = "; name others with --run demos=FILE" if pool.asked.source is None else ""
        return f"--shots {pool.asked.number}: {demonstrations.mark}{other}"

    def _leaked_apps(self, pool: Pool, sample: Sample) -> Collection[str]:
        """Gold's apps, where demonstrations are chosen by them."""
        return gold_apps(sample) if pool.asked.by == "gold-apps" else ()

    def jobs(
        self,
        box: Sandbox | None = None,
        *,
        repeat: int = 1,
        say: Callable[[str], None] = lambda message: None,
    ) -> list[Job]:
        """A job a sample, or several; repetitions of all samples one after the other.

        Args:
            box: Where tools run, if the calls of these samples are made with tools.
            repeat: How often each sample is asked.
            say: Is told what is known only once demonstrations' calls were made.
        """
        setups = self._told(box, say)
        pairs = list(zip(self.samples, self.tasks, setups, strict=True))
        return [
            Job(
                sample.id,
                partial(self._begin, task, setup),
                self._acting(sample, task, box),
                "" if isinstance(task, str) else digest(task.query, task.messages),
                number if repeat > 1 else None,
                partial(self.beside, sample),
            )
            for number in range(repeat)
            for sample, task, setup in pairs
        ]

    def first_requests(
        self, box: Sandbox | None = None, *, say: Callable[[str], None] = lambda message: None
    ) -> Iterator[tuple[Sample, Request | str]]:
        """What each sample is asked first, or a sentence where it cannot be asked.

        Demonstrations have their calls made where they need to be.
        """
        for sample, task, setup in zip(self.samples, self.tasks, self._told(box, say), strict=True):
            try:
                steps = self._begin(task, setup)
                step = next(steps)
                steps.close()
                assert isinstance(step, Request), "a pipeline begins with a request"
                yield sample, step
            except InputError as problem:
                yield sample, str(problem)

    def about(self, **more: Any) -> Row:
        """What a run has to share with an earlier one to go on with it."""
        setup_prompts, used = self.setup.prompts, self.pipeline.serves[self.form]
        texts = json.dumps({name: setup_prompts.texts[name] for name in used}, sort_keys=True)
        settings = {
            field.name: getattr(self.setup, field.name)
            for field in fields(self.setup)
            if field.name != "prompts"
        }
        settings["constrain"] = None if self.setup.constrain is None else self.setup.constrain._asdict()
        settings["examples"] = [list(example) for example in map(astuple, self.setup.examples)]
        settings["shots"] = None if self.pool is None else self.pool.about()
        settings["choice"] = None if self.choice is None else self.choice._asdict()
        published = {
            name: setup_prompts.origins[name] for name in used if setup_prompts.origins[name] != "own"
        }
        prompts = {"texts": blake2b(texts.encode(), digest_size=16).hexdigest(), "published": published}
        about = {"pipeline": self.pipeline.name, "dataset": self.form, "setup": settings, "prompts": prompts}
        return about | {"gold": self._gold(), "planeval": __version__} | more

    def _gold(self) -> list[str]:
        """The uses of gold that the run makes, each one that its benchmark wants."""
        marks = {
            "history: gold": self.form == "functionchat" and self.setup.history == "gold",
            "feedback: recorded": self.form == "complexfuncbench"
            or (self.form == "functionchat" and self.setup.history != "gold"),
            DISTRACTORS_MARK: self.form == "nestful" or self.choice is not None,
            LEAK_MARK: self.pool is not None and self.pool.asked.by == "gold-apps",
            TEST_SET_MARK: self.pool is not None and bool(self.pool.tested),
        }
        return [mark for mark, applies in marks.items() if applies]

    def _begin(self, task: Task | str, setup: Callable[[], Setup]) -> Steps:
        if isinstance(task, str):
            raise InputError(task)
        return self.pipeline.steps(task, setup())

    def _told(self, box: Sandbox | None, say: Callable[[str], None]) -> list[Callable[[], Setup]]:
        """What the pipeline is told for each sample; says where ``react`` shows too few demonstrations."""
        setups: list[Callable[[], Setup]] = []
        played_answers: dict[str, str | None] = {}
        for sample, task in zip(self.samples, self.tasks, strict=True):
            if self.pool is None or isinstance(task, str):
                setups.append(lambda: self.setup)
            elif self.pipeline.name == "react":  # calls are made here: tools serve one caller at a time
                examples = self._played(self.pool, sample, task, box, played_answers)
                setups.append(partial(replace, replace(self.setup, examples=examples)))
            else:
                setups.append(partial(self._shown, self.pool, sample, task))
        if self.pool is not None and self.pipeline.name == "react":
            shot_counts = {
                sample.id: len(setup().examples)
                for sample, task, setup in zip(self.samples, self.tasks, setups, strict=True)
                if not isinstance(task, str)
            }
            for message in (too_few_shots_message(self.pool, shot_counts), self._marked()):
                if message is not None:
                    say(message)
        return setups

    def _shown(self, pool: Pool, sample: Sample, task: Task) -> Setup:
        apps = self._leaked_apps(pool, sample)
        key, by_agent = (sample.id, sample.query), self.pipeline.name == "isolated"
        if by_agent:
            # of all, the closest last, those that the agents of gold's apps are shown
            shots = pool.chosen(task.query, _tool_names(task), apps, number=None)
            shown = [
                shot
                for app in gold_apps(sample)
                for shot in [shot for shot in reversed(shots) if app in shot.apps][: pool.asked.number]
            ]
            self.chosen[key] = tuple({shot.id: shot for shot in shown}.values())
        else:
            shots = self.chosen.get(key) or pool.chosen(task.query, _tool_names(task), apps)
            self.chosen[key] = shots
        examples = tuple(Example(shot.query, shot.answer) for shot in shots)
        return replace(self.setup, examples=examples, shots=pool.asked.number)

    def _played(
        self,
        pool: Pool,
        sample: Sample,
        task: Task,
        box: Sandbox | None,
        played_answers: dict[str, str | None],
    ) -> tuple[Example, ...]:
        """The first demonstrations of which every call gives a value; none where no tools are at hand."""
        examples: list[tuple[Shot, Example]] = []
        ranked = pool.chosen(task.query, _tool_names(task), number=None)
        for shot in ranked if pool.asked.by == "first" else reversed(ranked):
            if box is None or len(examples) == pool.asked.number:
                break
            if shot.answer not in played_answers:
                played_answers[shot.answer] = run_example(shot.answer, box)
            answer = played_answers[shot.answer]
            examples += [] if answer is None else [(shot, Example(shot.query, answer))]
        examples = examples if pool.asked.by == "first" else examples[::-1]
        self.chosen[sample.id, sample.query] = tuple(shot for shot, _ in examples)
        return tuple(example for _, example in examples)

    def _acting(self, sample: Sample, task: Task | str, box: Sandbox | None) -> Any:
        if not self.pipeline.acts or isinstance(task, str):
            return None
        if self.form == "complexfuncbench":
            return partial(simulated_api, sample, runner="gpt" if self.setup.official else "glm")
        if asking_of(self.form) is not None:
            return None if box is None else partial(benchmark_caller, sample, self.form, box)
        if box is None:
            return None
        return lambda: tool_runner(box, [tool.full_name for tool in catalog_of(task).tools])


def _tool_names(task: Task) -> frozenset[str]:
    """The names of the tools on offer; none where they are those of apps."""
    if task.form == "appbench":
        return frozenset()
    return frozenset(tool.full_name for tool in catalog_of(task).tools)


def prepare_run(  # noqa: PLR0913 - the options of a public function
    samples: Any,
    *,
    pipeline: str | None = None,
    benchmark: str | None = None,
    catalog: Any = None,
    setup: Setup = _DEFAULT_SETUP,
    ids: Collection[str] | None = None,
    limit: int | None = None,
    cache: str | None = None,
    shots: ShotOptions | None = None,
    choice: ToolChoice | None = None,
    categories: Sequence[str] = (),
) -> Prepared:
    """Read what is to be asked, and find what is wrong with it before anything is; as for :func:`predict`.

    Raises:
        InputError: there is no such pipeline or sample, or none can be asked.
    """
    expect_or_none(NAME, pipeline=pipeline, benchmark=benchmark)
    expect(NAMES, categories=categories)
    expect_or_none(NAMES, ids=ids)
    ids = (ids,) if isinstance(ids, str) else tuple(ids or ())
    expect_or_none(COUNT, limit=limit)
    expect(instance_of(Setup, "Setup(…) of planner_eval.models.pipelines.setup"), setup=setup)
    expect_or_none(PATH, cache=cache)
    expect_or_none(
        instance_of(ShotOptions, "ShotOptions(…) of planner_eval.models.pipelines.demonstrations"),
        shots=shots,
    )
    expect_or_none(
        instance_of(ToolChoice, "ToolChoice(…) of planner_eval.models.pipelines.candidates"), choice=choice
    )
    source = os.fspath(samples) if isinstance(samples, os.PathLike) else samples
    tasks = source if isinstance(source, Tasks) else read_tasks(source, benchmark, cache=cache)
    form, source = tasks.form, source if isinstance(source, str) else ""
    tools = None if catalog is None else _read_offered_tools(catalog, form)
    if form not in DEFAULT_PIPELINES:
        title = benchmark_of(form).title
        raise InputError(f"no pipeline asks like {title}: use its own runner, and score the answers")
    chosen = find_pipeline(pipeline or DEFAULT_PIPELINES[form], form)
    refuse_setup(setup, chosen, form)
    pool = None
    if shots is not None:
        _refuse_shots(chosen.name, form, setup.prompts)
        pool = read_pool(shots, form, tasks.samples, source, dialect=setup.notation, cache=cache)
    if choice is not None and asking_of(form) is not None:
        raise InputError(f"--run distractors and budget: {form} offers the tools of its questions alone")
    offered = None
    if choice is not None:
        offered = tool_chooser(choice, form, tasks.samples, tools=tools, source=source)
    selected = _select_samples(_of_categories(tasks.samples, categories), ids)
    askable, unasked = _askable(selected, form, chosen.name)
    if ids and unasked:
        raise InputError(unasked[0])
    seen, offers = _visible_tasks(askable[:limit], form, tools, offered)
    if all(isinstance(task, str) for task in seen):
        why = seen[0] if seen else "; ".join(unasked) or "there is nothing to ask: no samples"
        raise InputError(str(why))
    samples, every = tuple(askable[:limit]), tuple(sample.id for sample in tasks.samples)
    golds = {} if pool is None else gold_call_texts(form, samples, source)
    prepared = Prepared(
        form, chosen, setup, samples, tuple(seen), source, pool, choice, offers, every, golds,
        cache=cache, unasked=tuple(unasked),
    )  # fmt: skip
    requests = (request for _, request in prepared.first_requests())
    problems = list(takewhile(lambda request: isinstance(request, str), requests))
    if len(problems) == len(samples):
        raise InputError(str(problems[0]))
    if pool is not None:  # what is said of demonstrations is known once all are chosen
        deque(requests, maxlen=0)
    return prepared


def _visible_tasks(
    samples: Sequence[Sample], form: str, tools: Any, offered: ToolChooser | None
) -> tuple[list[Task | str], dict[str, OfferedTools]]:
    """What may be seen of each sample, or why it cannot be asked; and the tools that were chosen for it."""
    seen: list[Task | str] = []
    offers: dict[str, OfferedTools] = {}
    for sample in samples:
        try:
            if offered is not None:
                offers[sample.id] = offered(sample)
            own = tools if offered is None else offers[sample.id].tools
            seen.append(visible_task(sample, form, tools=own))
        except InputError as problem:
            seen.append(str(problem))
    return seen, offers


def _read_offered_tools(catalog: Any, form: str) -> Any:
    """The tools for samples that bring none: AppBench's as they stand, others as a catalog."""
    if form == OWN_TASKS:
        return read_catalog(catalog)
    if form == "appbench":
        return load_json(Path(catalog)) if isinstance(catalog, (str, os.PathLike)) else catalog
    raise InputError(
        f"the samples of {form} bring the tools that they were published with: a catalog is for "
        "tasks of your own, and for AppBench"
    )


def _refuse_shots(pipeline: str, form: str, prompts: Prompts) -> None:
    """Refuse demonstrations where no prompt shows them."""
    if (pipeline, form) not in USED_OPTIONS:
        raise InputError(f"the prompts of {pipeline} show no demonstrations for {form}")
    for name in USED_OPTIONS[pipeline, form]:
        if "{examples}" not in prompts.texts[name]:
            raise InputError(f"{name}.txt of --run prompts has no {{examples}}: --shots shows them there")


def _of_categories(samples: Sequence[Sample], patterns: Sequence[str]) -> Sequence[Sample]:
    """The samples of categories that fit a pattern.

    Raises:
        InputError: a pattern fits none.
    """
    categories = dict.fromkeys(sample.category for sample in samples)
    for pattern in patterns:
        if not any(fnmatchcase(category, pattern) for category in categories):
            category_names = ", ".join(filter(None, categories))
            hint = did_you_mean(
                pattern,
                categories,
                f"expected one of {category_names}" if category_names else "samples have none",
            )
            raise InputError(f"no sample has the category {pattern!r}: {hint}")
    chosen = {name for name in categories if any(fnmatchcase(name, pattern) for pattern in patterns)}
    return [sample for sample in samples if sample.category in chosen] if patterns else samples


def _askable(samples: Sequence[Sample], form: str, pipeline: str) -> tuple[list[Sample], list[str]]:
    """The samples that a pipeline can ask, and of the others which they are and why, in words."""
    asking = asking_of(form)
    if asking is None:
        return list(samples), []
    whys = [asking.refusal(sample, pipeline) for sample in samples]
    left: dict[str, Counter[str]] = {}
    for sample, why in zip(samples, whys, strict=True):
        if why is not None:
            left.setdefault(why, Counter())[sample.category] += 1
    messages = [
        f"not asked: {', '.join(counts)} ({format_count(counts.total(), 'sample')}): {why}"
        for why, counts in left.items()
    ]
    return [sample for sample, why in zip(samples, whys, strict=True) if why is None], messages


def _select_samples(samples: Sequence[Sample], ids: Sequence[str]) -> list[Sample]:
    if not ids:
        return list(samples)
    known_ids = {sample.id for sample in samples}
    absent = [name for name in ids if name not in known_ids]
    if absent:
        hint = did_you_mean(absent[0], known_ids, f"the first is {samples[0].id!r}" if samples else "")
        raise InputError(f"no sample has the id {absent[0]!r}: {hint}")
    return [sample for sample in samples if sample.id in ids]
