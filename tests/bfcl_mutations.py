"""Answers to BFCL made from right and from real ones by small changes, judged by its code and by ours.

``python -m tests.bfcl_mutations 5000 --seed 3`` prints what differs and how often each verdict came up.
"""

import argparse
import copy
import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from planner_eval.benchmarks.bfcl.call_check import Verdict
from planner_eval.benchmarks.bfcl.data import CATEGORIES, data_folder, read_category
from planner_eval.benchmarks.bfcl.gold import gold_text
from planner_eval.benchmarks.bfcl.official import Settings, judge_answer
from planner_eval.benchmarks.bfcl.reading import answer_text
from planner_eval.benchmarks.datasets.published import Sample
from tests.bfcl_official import Answered, Official, judge, official
from tests.conftest import tables

TABLES = tables(__file__)

NOT_INSTALLED = Path("not", "there")
"""No folder: the installed package is read."""
WORDS = TABLES["WORDS"]
VALUES: list[Any] = TABLES["VALUES"]
JAVA = TABLES["JAVA"]
JAVASCRIPT = TABLES["JAVASCRIPT"]


ARGUMENT_TEXTS = (
    '{"a": 1, "a": 2}',
    '{"a": {"b": 1, "b": 2}}',
    '{"a": "\\ud800"}',
    '{"a": "\\u0000\\n\\\\"}',
    '{"a": "x\ny"}',
    '{"a": "\\x"}',
    '{"a": NaN}',
    '{"a": -Infinity}',
    '{"a": 1e999}',
    '{"a": -0}',
    '{"a": 01}',
    '{"a": 1,}',
    "{'a': 1}",
    "{a: 1}",
    '{"a": True}',
    '{"a": 1} x',
    '{"a": 1}{"a": 1}',
    ' {"a": 1}\n',
    "\ufeff{}",
    "\u00a0{}",
    f'{{"a": {"9" * 4299}}}',
    f'{{"a": {"9" * 4301}}}',
    f'{{"a": {"[" * 3000}{"]" * 3000}}}',
    '"{}"',
    "true",
    "[[]]",
    '[{"a": 1}]',
    "",
    " ",
)
"""Arguments as texts that are odd JSON, or none; ``a`` stands for an argument of the tool."""
NAME_CHANGES: tuple[Callable[[str], str], ...] = (
    lambda name: f"functions.{name}",
    lambda name: f"{name}<|channel|>commentary",
    lambda name: f" {name} ",
    lambda name: name.replace("_", "-"),
    lambda name: name.replace("_", ""),
    lambda name: f"{name}é",
    lambda name: f"{name}()",
)


class Case(NamedTuple):
    """An answer to be judged.

    Args:
        sample: What was asked.
        result: What the model answered, as result files have it.
        calls: It calls functions; else it is prompted.
    """

    sample: Sample
    result: Any
    calls: bool


# ----------------------------------------------------------------------
# Changes of values, calls and texts.
def change_value(pick: random.Random, value: Any, language: str) -> Any:
    """Another value, mostly one near to it."""
    pool = {"java": JAVA, "javascript": JAVASCRIPT}.get(language)
    if pool and pick.random() < 0.4:
        return pick.choice(pool)
    kind = pick.randrange(9)
    if kind == 0:
        return copy.deepcopy(pick.choice(VALUES))
    if isinstance(value, str) and kind < 7:
        return _change_text(pick, value)
    if isinstance(value, bool):
        return pick.choice([not value, int(value), str(value).lower()])
    if isinstance(value, (int, float)):
        whole = int(value) if value == value and abs(value) < 1e300 else 0
        return pick.choice([value + 1, -value, float(value), str(value), whole])
    if isinstance(value, list):
        return _change_list(pick, value, language)
    if isinstance(value, dict):
        return _change_object(pick, value, language)
    return copy.deepcopy(pick.choice(VALUES))


def _change_text(pick: random.Random, text: str) -> Any:
    place = pick.randrange(len(text) + 1)
    ways: tuple[Callable[[], Any], ...] = (
        text.upper,
        text.title,
        lambda: f" {text} ",
        lambda: text.replace(" ", "_"),
        lambda: text + ".",
        lambda: text[:place],
        lambda: text[:place] + pick.choice(" ,./-_*^'\"é(") + text[place:],
        lambda: [text],
        lambda: {text: text},
        lambda: text.replace('"', "'"),
        lambda: pick.choice(WORDS),
    )
    return pick.choice(ways)()


def _change_list(pick: random.Random, items: list[Any], language: str) -> Any:
    place = pick.randrange(len(items)) if items else 0
    ways: tuple[Callable[[], Any], ...] = (
        lambda: items[::-1],
        lambda: items[1:],
        lambda: [*items, *items[:1]],
        lambda: [*items, None],
        lambda: [
            *items[:place],
            change_value(pick, items[place], language) if items else 1,
            *items[place + 1 :],
        ],
        lambda: [items],
        lambda: str(items),
        lambda: items[0] if items else None,
        lambda: [str(item) for item in items],
        lambda: [{"a": 1}, *items],
    )
    return pick.choice(ways)()


def _change_object(pick: random.Random, members: dict[str, Any], language: str) -> Any:
    names = list(members)
    name = pick.choice(names) if names else "a"
    ways: tuple[Callable[[], Any], ...] = (
        lambda: {key: value for key, value in members.items() if key != name},
        lambda: {**members, "extra": 1},
        lambda: {**members, name: change_value(pick, members.get(name), language)},
        lambda: [members],
        lambda: str(members),
        lambda: {name: members},
        dict,
        lambda: {key.upper(): value for key, value in members.items()},
    )
    return pick.choice(ways)()


def change_calls(pick: random.Random, calls: list[Any], language: str) -> list[Any]:
    """Other calls: of one an argument, or the calls themselves; never another form."""
    calls = copy.deepcopy(calls)
    if not calls:
        return pick.choice([[], [{"f": {}}]])
    place = pick.randrange(len(calls))
    ((name, arguments),) = calls[place].items()
    kind = pick.randrange(14)
    keys = list(arguments)
    key = pick.choice(keys) if keys else "a"
    if kind < 7:
        arguments[key] = change_value(pick, arguments.get(key), language)
    elif kind == 7:
        arguments.pop(key, None)
    elif kind == 8:
        arguments[pick.choice(["extra", key.upper(), f"{key}_", ""])] = copy.deepcopy(pick.choice(VALUES))
    elif kind == 9:
        renamed = pick.choice([name.replace("_", "."), name.replace(".", "_"), name.upper(), "other", ""])
        calls[place] = {renamed: arguments}
    elif kind == 10:
        del calls[place]
    elif kind == 11:
        calls.insert(pick.randrange(len(calls) + 1), copy.deepcopy(calls[place]))
    elif kind == 12:
        pick.shuffle(calls)
    else:
        calls[place] = {name: dict(reversed(arguments.items()))}
    return calls


def change_result(pick: random.Random, result: list[Any]) -> Any:
    """Another form of an answer of function calls: broken JSON, empty, words."""
    text = json.dumps(result)
    first = result[0] if result else {"f": "{}"}
    ((name, arguments),) = first.items() if isinstance(first, dict) and len(first) == 1 else (("f", "{}"),)
    kind = pick.random()
    if kind < 0.5:
        key = next(iter(json.loads(arguments)), "a") if isinstance(arguments, str) else "a"
        return [{name: pick.choice(ARGUMENT_TEXTS).replace('"a"', json.dumps(key))}, *result[1:]]
    if kind < 0.65:
        return [{pick.choice(NAME_CHANGES)(name): arguments}, *result[1:]]
    cut = arguments[: pick.randrange(len(arguments) + 1)] if isinstance(arguments, str) else arguments
    return pick.choice(
        [
            [],
            [{}],
            [{name: cut}],
            [{name: arguments + "}"}] if isinstance(arguments, str) else [],
            "",
            text,
            "I cannot do that.",
            [{name: "[]"}],
            [{name: "1"}],
            [{name: arguments, "g": "{}"}],
            [name],
            [[first]],
            None,
            {"f": "{}"},
            [{name: '{"a": NaN}'}],
            [{name: ""}],
            [{name: "null"}],
            5,
            [None],
            "[f(a=1)]",
        ]
    )


# ----------------------------------------------------------------------
# Calls as prompted models write them.
def program_text(calls: Sequence[Any], written: Callable[[Any], str] = str) -> str:
    """A list of calls whose values are written in Java or JavaScript, or as Python's repr() writes them."""
    texts = [
        f"{name}({', '.join(f'{key}={written(value)}' for key, value in arguments.items())})"
        for call in calls
        for name, arguments in call.items()
    ]
    return f"[{', '.join(texts)}]"


def json_text(calls: Sequence[Any]) -> str:
    """A list of calls as JSON."""
    return json.dumps([{"function": name, "parameters": a} for call in calls for name, a in call.items()])


def xml_text(calls: Sequence[Any], *, verbose: bool) -> str:
    """A list of calls as XML."""
    from xml.sax.saxutils import escape, quoteattr

    types = {str: "string", int: "integer", float: "float", bool: "boolean", list: "array", dict: "dict"}
    functions = []
    for call in calls:
        for name, arguments in call.items():
            params = []
            for key, value in arguments.items():
                head = f"<param name={quoteattr(str(key))}"
                kind = types.get(type(value), "null")
                if verbose:
                    params.append(f'{head} value={quoteattr(str(value))} type="{kind}"/>')
                else:
                    params.append(f'{head} type="{kind}">{escape(str(value))}</param>')
            inner = "".join(params)
            inner = f"<params>{inner}</params>" if verbose else inner
            functions.append(f"<function name={quoteattr(name)}>{inner}</function>")
    return f"<functions>{''.join(functions)}</functions>"


ODD = TABLES["ODD"]


def change_prompted(pick: random.Random, text: str, calls: Sequence[Any]) -> str:
    """Another text: cut, wrapped, with an odd value."""
    place, other = sorted((pick.randrange(len(text) + 1), pick.randrange(len(text) + 1)))
    name = next(iter(calls[0])) if calls else "f"
    key = next(iter(calls[0][name]), "a") if calls else "a"
    ways: tuple[Callable[[], str], ...] = (
        lambda: f"```\n{text}\n```",
        lambda: f"```python\n{text}\n```",
        lambda: text.strip("[]"),
        lambda: f" {text}\n",
        lambda: text[:place],
        lambda: text[:place] + text[other:],
        lambda: f"Sure: {text}",
        lambda: f"{text} Done.",
        lambda: f"<TOOLCALL>{text}</TOOLCALL>",
        lambda: f"So <TOOLCALL> {text} </TOOLCALL>.",
        lambda: f"'{text}'",
        lambda: f"[{name}({key}={pick.choice(ODD)})]",
        lambda: f"{name}({key}={pick.choice(ODD)})",
        lambda: text.replace('"', "'"),
        lambda: text.replace(": ", ":\n"),
        lambda: f"{text}\n{text}",
        lambda: text.replace("},", "}, ,"),
        lambda: text + pick.choice("]}>)"),
        lambda: "",
        lambda: "No.",
        lambda: text[:place] + pick.choice("{}[]()<>,:\"'&\n=") + text[place:],
        lambda: text.replace("function", "fn"),
    )
    return pick.choice(ways)()


JAVA_STATEMENTS = TABLES["JAVA_STATEMENTS"]
"""Statements around Java's calls, right and wrong ones."""
JAVASCRIPT_STATEMENTS = TABLES["JAVASCRIPT_STATEMENTS"]
"""Statements around JavaScript's calls, right and wrong ones."""


def wrap_calls(pick: random.Random, calls: Sequence[Any], language: str) -> str:
    """Calls inside of a statement, or behind it."""
    statement = pick.choice(JAVA_STATEMENTS if language == "java" else JAVASCRIPT_STATEMENTS)
    text = program_text(calls)[1:-1]
    return statement.replace("{c}", pick.choice((text, text, program_text(calls[:1])[1:-1])))


# ----------------------------------------------------------------------
# Cases.
def real_answers(folder: Path | None) -> dict[str, list[tuple[str, Any]]]:
    """Recorded answers by category."""
    answers: dict[str, list[tuple[str, Any]]] = {}
    for file in sorted((folder / "vectors" / "bfcl").glob("*/*.jsonl.gz")) if folder else ():
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            records = [json.loads(line) for line in list(stream)[1:]]
        found = answers.setdefault(file.name.removesuffix(".jsonl.gz"), [])
        found += [(record["id"], record["result"]) for record in records]
    return answers


def _decoded(result: Any) -> list[Any] | None:
    try:
        calls = [{name: json.loads(text) for name, text in call.items()} for call in result]
    except (ValueError, AttributeError, TypeError):
        return None
    plain = all(isinstance(next(iter(call.values()), None), dict) and len(call) == 1 for call in calls)
    return calls if plain else None


def cases(
    count: int,
    seed: int,
    *,
    reference: Path | None = None,
    styles: Sequence[str] = (),
    only: Sequence[str] = (),
    prompted: bool = False,
) -> Iterator[Case]:
    """So many answers, the same for the same seed.

    Args:
        count: How many.
        seed: Of what is drawn.
        reference: Where recorded answers lie.
        styles: Languages in which prompted answers may be written beside those of ``format_sensitivity``.
        only: Categories to which answers are made, instead of all.
        prompted: Whether all answers are written as text.
    """
    pick = random.Random(seed)
    data = data_folder(NOT_INSTALLED)
    names = list(only) or [name for name, c in CATEGORIES.items() if c.check != "multi_turn"]
    samples = {name: {sample.id: sample for sample in read_category(data, name)} for name in names}
    real = real_answers(reference)
    few: tuple[list[Any], ...]
    weights = [8 if CATEGORIES[name].check == "calls" else 2 for name in names]
    for _ in range(count):
        name = pick.choices(names, weights)[0]
        category, pool = CATEGORIES[name], samples[name]
        sample = pick.choice(list(pool.values()))
        if category.check == "agentic":
            yield Case(sample, _agentic_result(pick, sample), pick.random() < 0.5)
            continue
        calls: list[Any] | None = copy.deepcopy(sample.gold)
        if category.check == "calls":
            calls = _decoded(json.loads(gold_text(sample) or "[]"))
        if real.get(name) and pick.random() < 0.4:
            identity, result = pick.choice(real[name])
            sample, calls = pool[identity], _decoded(result)
            if calls is None:
                yield Case(sample, result, calls=True)
                continue
        if not calls:  # also of none that could be read
            tool = pick.choice(sample.tools)["name"] if sample.tools else "f"
            few = ([], [{tool: {}}], [{tool: {"a": 1}}])
            calls = pick.choice(few)
        assert calls is not None
        for _ in range(pick.choice((0, 1, 1, 1, 2, 3))):
            calls = change_calls(pick, calls, category.language)
        as_text = prompted or category.check == "format"
        if as_text or (pick.random() < 0.3 and category.language in ("python", *styles)):
            yield Case(sample, _prompted_result(pick, sample, calls, category.language), calls=False)
            continue
        result = [{key: json.dumps(value) for key, value in call.items()} for call in calls]
        yield Case(sample, change_result(pick, result) if pick.random() < 0.15 else result, calls=True)


def _prompted_result(pick: random.Random, sample: Sample, calls: list[Any], language: str) -> str:
    style = sample.extra.get("config", "ret_fmt=python&").split("&")[0].removeprefix("ret_fmt=")
    dotted = {name.replace(".", "_"): name for name in (tool["name"] for tool in sample.tools or ())}
    calls = [{dotted.get(name, name): value for name, value in call.items()} for call in calls]
    if language != "python":
        text = wrap_calls(pick, calls, language) if pick.random() < 0.5 else program_text(calls)
        text = pick.choice((text, text[1:-1])) if text.startswith("[") else text
    elif style == "json":
        text = json_text(calls)
    elif style.endswith("xml"):
        text = xml_text(calls, verbose=style == "verbose_xml")
    else:
        text = program_text(calls, repr)
    if "tool_call_tag=True" in sample.id and pick.random() < 0.8:
        text = f"<TOOLCALL>{text}</TOOLCALL>"
    return change_prompted(pick, text, calls) if pick.random() < 0.4 else text


def _agentic_result(pick: random.Random, sample: Sample) -> Any:
    right = pick.choice(sample.gold)
    words = [
        right,
        f"{{'answer': '{right}', 'context': 'x'}}",
        f"It is {right.upper()}.",
        f"x{right}y",
        right[:-1],
        "",
        "I do not know",
        f"({right})",
        right.replace(" ", "-"),
        [right],
        f"a\n{right}\nb",
    ]
    step = [{"search": '{"q": "x"}'}]
    said = pick.choice(words)
    return pick.choice(
        [
            [[step, said]],
            [[said, step]],
            [[said]],
            [[step]],
            [[]],
            [],
            said,
            [[said], [said]],
            [[step, said, "search(q='x')"]],
            [["[search(q='x')]", said]],
            [[said, []]],
            None,
            [[None, said]],
        ]
    )


class Difference(NamedTuple):
    """A case of which the two say otherwise.

    Args:
        case: The answer.
        published: What the published code says.
        here: What we say.
    """

    case: Case
    published: Answered
    here: Verdict


def compare(code: Official, case: Case) -> tuple[Answered, Difference | None]:
    """The published verdict on a case, and what differs from it."""
    published = judge(code, case.sample, copy.deepcopy(case.result), calls=case.calls)
    settings = Settings("calls" if case.calls else "prompt", "underscores" if case.calls else "dots")
    verdict = judge_answer(case.sample, answer_text(case.result, calls=case.calls), settings)
    assert verdict is not None
    messages = [verdict.error] if isinstance(verdict.error, str) else list(verdict.error)
    wanted = [published.messages] if isinstance(published.messages, str) else list(published.messages)
    same = (verdict.valid, verdict.error_type) == published[:2] and repr(messages) == repr(wanted)
    return published, None if same else Difference(case, published, verdict)


def main(argv: Sequence[str] | None = None) -> int:
    """Compare so many cases; 1 where some differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", action="store_true", help="only texts in Java and JavaScript")
    parser.add_argument("--category", action="append", default=[], help="so many answers to this one alone")
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args(argv)
    code = official()
    if code is None:
        print("bfcl_eval is not installed")
        return 2
    from tests.conftest import reference_folder

    styles = ("java", "javascript")
    categories = [f"simple_{style}" for style in styles] if options.programs else options.category
    kinds: Counter[str] = Counter()
    differing: Counter[str] = Counter()
    how: dict[str, Any] = {"styles": styles, "only": categories, "prompted": options.programs}
    for case in cases(options.count, options.seed, reference=reference_folder(), **how):
        published, difference = compare(code, case)
        kinds[str(published.kind)] += 1
        if difference:
            differing[f"{published.kind} / {difference.here.error_type}"] += 1
            if differing.total() <= options.show:
                print(case.sample.id, json.dumps(case.result, default=str)[:400], case.calls)
                print("  published:", str(published)[:300])
                print("  here:     ", str(difference.here)[:300])
    print(f"{options.count:,} answers, {differing.total():,} differ: {dict(differing)}")
    print(dict(kinds.most_common()))
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
