"""Texts a few steps away from those that models write, drawn at random, and all that is read of each.

What is read of one is one line of tests/cases/mangled.jsonl; ``pytest tests/test_mangled.py --update-cases``
rewrites the file: review its diff like code. Of many thousand draws those are here that few faults of the
readers pass unseen.
"""

from __future__ import annotations

import json
import re
from functools import cache
from random import Random
from typing import Any

from planner_eval.base.errors import ParseError, PlanevalError
from planner_eval.base.limits import Limits
from planner_eval.plan.model import Plan
from planner_eval.reading import dialects
from planner_eval.reading.dialects.detect import detect
from planner_eval.reading.dialects.read import locate, parse, write
from tests.conftest import ROOT, AsKept
from tests.fuzz import PIECES, mutate
from tests.test_dialect_cases import CASES, printed, split

FILE = ROOT / "tests" / "cases" / "mangled.jsonl"
SEEDS = (
    0, 1, 2, 3, 9, 11, 12, 14, 17, 18, 19, 24, 27, 36, 40, 47, 50, 53, 54, 61, 62, 65, 66, 67, 68, 69, 74,
    78, 81, 84, 86, 91, 93, 94, 98, 99, 100, 101, 104, 111, 115, 117, 119, 121, 126, 134, 135, 147, 148,
    150, 152, 158, 162, 163, 165, 167, 171, 175, 177, 178, 184, 188, 190, 201, 207, 210, 211, 212, 230, 233,
    234, 239, 240, 242, 244, 247, 249, 251, 256, 260, 269, 275, 276, 282, 291, 292, 293, 297, 298, 299, 302,
    305, 306, 309, 310, 311, 314, 315, 318, 321, 322, 325, 326, 337, 340, 342, 343, 349, 356, 360, 362, 363,
    367, 373, 381, 384, 387, 391, 394, 397, 399, 400, 406, 407, 408, 411, 413, 414, 424, 429, 437, 440, 449,
    455, 459, 468, 469, 474, 476, 486, 487, 504, 508, 509, 516, 520, 525, 535, 538, 539, 552, 554, 555, 566,
    567, 569, 570, 571, 572, 573, 576, 579, 580, 586, 588, 590, 591, 599, 601, 604, 606, 607, 610, 615, 616,
    617, 621, 623, 626, 627, 629, 630, 633, 634, 636, 638, 640, 641, 646, 648, 651, 658, 660, 663, 668, 669,
    673, 674, 676, 681, 684, 689, 693, 694, 706, 712, 728, 730, 731, 741, 744, 745, 746, 756, 764, 771, 772,
    774, 776, 777, 782, 784, 785, 786, 790, 792, 793, 794, 795, 800, 804, 810, 811, 816, 827, 829, 832, 834,
    836, 839, 843, 847, 854, 857, 861, 867, 869, 871, 875, 878, 881, 889, 890, 894, 896, 900, 901, 903, 909,
    914, 921, 925, 936, 937, 940, 941, 950, 951, 958, 961, 963, 965, 966, 967, 975, 978, 998, 999, 1005,
    1009, 1010, 1012, 1016, 1020, 1021, 1022, 1025, 1036, 1040, 1042, 1047, 1048, 1050, 1051, 1057, 1061,
    1062, 1068, 1070, 1072, 1074, 1077, 1080, 1091, 1092, 1093, 1100, 1102, 1106, 1108, 1110, 1119, 1122,
    1133, 1136, 1141, 1144, 1150, 1153, 1155, 1156, 1159, 1161, 1165, 1171, 1175, 1178, 1180, 1182, 1185,
    1188, 1192, 1193, 1195, 1196, 1199, 1208, 1211, 1214, 1215, 1216, 1218, 1219, 1223, 1226, 1233, 1236,
    1245, 1248, 1249, 1257, 1259, 1261, 1264, 1269, 1272, 1283, 1284, 1286, 1288, 1290, 1293, 1302, 1307,
    1308, 1310, 1311, 1313, 1318, 1319, 1323, 1325, 1328, 1332, 1343, 1344, 1349, 1350, 1352, 1356, 1365,
    1367, 1377, 1383, 1385, 1391, 1392, 1398, 1400, 1404, 1406, 1407, 1408, 1409, 1411, 1416, 1417, 1420,
    1421, 1426, 1432, 1433, 1436, 1437, 1441, 1442, 1444, 1446, 1456, 1462, 1465, 1478, 1479, 1480, 1484,
    1486, 1487, 1488, 1494, 1497,
)  # fmt: skip
"""Of many draws those that together run most of the readers' code, each line of it several times."""
AROUND = (
    ("Here is the plan.\n\n```json\n", "\n```\nDone."), ("```\n", "\n```"), ("<think>\nhm, ", "\n</think>\n"),
    ("I call:\n", ""), ("", "\nThat is all, f(x)."), ("<|im_start|>assistant\n", "<|im_end|>"), ("> ", "\n"),
    ("Thought: hm\nAction: ", "\nObservation: 1"), ("1. ", "\n2. g(b=2)"), ("plan = ", ""), ("(", ")"),
)  # fmt: skip
WORDS = (
    "1",
    "-2.5",
    "true",
    "None",
    "'a'",
    '"b"',
    "x",
    "$1.a",
    "[1]",
    "{}",
    "null",
    "1 + 2",
    "a=1",
    " ",
    ":",
)


@cache
def texts() -> list[tuple[str | None, str]]:
    """The texts of all golden cases with the dialect that each names, and every dialect's example."""
    found = [(settings.get("dialect"), text) for settings, text, _ in map(split, CASES)]
    return [*found, *((name, dialects.get(name).example) for name in dialects.names())]


def told(random: Random, text: str) -> Any:
    """A text as it is, or where an answer or a conversation holds it."""
    said = {"role": "assistant", "content": text}
    asked = {"role": "user", "content": random.choice(("Book it.", text[:40]))}
    whole: Any = random.choice((
        [said], [asked, said], {"messages": [asked, said]}, [text, text[:9]], {"output": text},
        [asked, said, {"role": "tool", "content": "1"}, said], {"content": [{"type": "text", "text": text}]},
        {"choices": [{"message": said, "finish_reason": random.choice(("stop", "length", "refusal"))}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": text}], "status": "incomplete"},
    ))  # fmt: skip
    return random.choice((whole, json.dumps(whole), json.dumps(whole, indent=1), json.dumps(whole)[:-1]))


def changed(random: Random, text: str) -> str:
    """A text with a word, a mark or a line of it left out, doubled or exchanged."""
    parts = re.split(
        random.choice((r"(\n)", r"(\W)", r"(\w+)", r"(\"[^\"]*\"|'[^']*')", r"([][(){}<>])")), text
    )
    at, other = random.randrange(len(parts)), random.choice(parts)
    parts[at] = random.choice(
        ("", parts[at] * 2, other, *random.choices(PIECES, k=2), *random.choices(WORDS, k=2))
    )
    if random.random() < 0.1:
        parts = parts[: at + 1]
    return "".join(parts)


def drawn(random: Random) -> tuple[Any, dict[str, Any]]:
    """What is read, and the options."""
    name, text = random.choice(texts())
    if random.random() < 0.15:
        text += random.choice(("", "\n", "\n\n", " ")) + random.choice(texts())[1]
    if random.random() < 0.25:
        before, after = random.choice(AROUND)
        text = before + text + after
    if random.random() < 0.5:
        text = changed(random, text)
    elif random.random() < 0.3:
        text = mutate(text, [one for _, one in texts()], random)
    options: dict[str, Any] = {}
    if name is not None and random.random() < 0.3:
        options["dialect"] = random.choice((name, name, random.choice(dialects.names())))
    if random.random() < 0.35:
        options["repair"] = True
    if random.random() < 0.05:
        options["limits"] = Limits(chars=400, depth=random.choice((1, 2, 4)), calls=random.choice((1, 2, 3)))
    if random.random() < 0.05:
        options["reader"] = "grammar"
        options.pop("repair", None)
    if random.random() < 0.1:
        options["compute"] = "arithmetic"
    if random.random() < 0.08:
        options["infer"] = True
    source: Any = told(random, text) if random.random() < 0.15 else text
    if random.random() < 0.1:
        options["turn"] = random.choice(("first", "last", 2))
        options.pop("reader", None)
    return source, options


def said(seed: int) -> dict[str, Any]:
    """All that is read of one text."""
    random = Random(f"mangled {seed}")
    source, options = drawn(random)
    found = {"seed": seed, "source": source, "options": {key: repr(one) for key, one in options.items()}}
    found = json.loads(json.dumps(found).encode("ascii", "replace"))
    found["likely"] = detect(source) if isinstance(source, str) else None
    try:
        plan = parse(source, **options)
    except ParseError as error:
        return {**found, "error": str(error), "code": error.code, "at": error.offset, "in": error.dialect}
    except PlanevalError as error:
        return {**found, "error": str(error)}
    found |= {"dialect": plan.dialect, "plan": printed(plan).split("\n"), "reason": plan.reason}
    found["notes"] = [[n.code, n.severity, n.call, n.argument, n.span] for n in plan.diagnostics]
    places = [call for one in (plan, locate(plan)) for call in one.calls]
    found["places"] = [[call.span, *call.spans, call.turn] for call in places]
    found["written"] = written(plan, random.sample(dialects.names(), 3)) if plan.calls else None
    return found


def written(plan: Plan, names: list[str]) -> dict[str, str]:
    """The plan in other dialects, or why not."""
    texts = {}
    for name in names:
        try:
            texts[name] = write(plan, name)
        except PlanevalError as error:
            texts[name] = f"not: {error}"
    return texts


def test_what_is_read_of_each_text(as_kept: AsKept) -> None:
    as_kept(FILE, map(said, SEEDS))
