"""planeval predict on BFCL: turns with tools of our own in its layout, stops, scores, and what is refused."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from planner_eval.base.errors import InputError, ModelError
from planner_eval.benchmarks.asking import Question
from planner_eval.benchmarks.benchmark import BENCHMARKS
from planner_eval.benchmarks.bfcl.data import read_category
from planner_eval.benchmarks.bfcl.dialog import ASKING, MAX_STEPS
from planner_eval.benchmarks.bfcl.prompts import published_text, published_texts
from planner_eval.benchmarks.bfcl.value_references import count_references
from planner_eval.execution.sandbox.sandbox import Sandbox
from planner_eval.models.replies import Reply, ToolCall
from tests.bfcl_package import package
from tests.conftest import ROOT, tabled
from tests.inside import planeval
from tests.test_predict import Scripted

(SAMPLE,) = read_category(package() / "data", "multi_turn_miss_func")
CALLS, PROMPT = "function-calling", "prompt"


def called(*calls: tuple[str, Any], text: str = "", ids: bool = True) -> Reply:
    written = [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in calls]
    made = [ToolCall(f"c{n}" if ids else "", *pair) for n, pair in enumerate(written)]
    return Reply(text, tuple(made))


DIM, READ = ("dim", {"lamp": "hall", "level": 4.5}), ("read", {"lamp": "hall"})
DIMMED, HALL = '{"level": 4.5}', '{"lamp": "hall", "level": 4.5}'


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    opened = ASKING.open_tools([SAMPLE], None)
    assert opened is not None
    with opened:
        yield opened


def talk(
    pipeline: str, box: Sandbox, *replies: Reply, steps: int | None = None
) -> tuple[list[Question], Any]:
    """Hold the dialog with these replies, the last one again and again."""
    dialog = ASKING.dialog(pipeline, ASKING.visible(SAMPLE), SAMPLE.tools, steps)
    call = ASKING.caller(SAMPLE, box)
    questions: list[Question] = []
    step: Any = next(dialog)
    while True:
        try:
            if isinstance(step, Question):
                questions.append(step)
                step = dialog.send(replies[min(len(questions), len(replies)) - 1])
            else:
                step = dialog.send(call(step.texts))
        except StopIteration as end:
            return questions, end.value


DONE = Reply("Done.")
# Pipeline, replies, the answer, and the contents of the last request's messages after the first.
CONVERSATIONS: dict[str, tuple[str, list[Reply], Any, list[Any]]] = {
    "the tool that was held back comes with its turn": (
        *(CALLS, [called(DIM), DONE, DONE, called(READ), DONE]),
        [[[{"dim": json.dumps(DIM[1])}], "Done."], ["Done."], [[{"read": json.dumps(READ[1])}], "Done."]],
        [None, DIMMED, "Done.", "And now read it.", "Done.", "There are more tools.", None, HALL],
    ),
    "calls that cannot be read end a turn": (
        *(CALLS, [called(("dim", "{")), called(("dim", "[1]")), called(text="Hm.")]),
        [[[{"dim": "{"}]], [[{"dim": "[1]"}]], ["Hm."]],
        [None, "And now read it.", None, "There are more tools."],
    ),
    "an error is a result": (
        *(CALLS, [called(("dim", {"lamp": "moon"}), ("shine", {})), DONE]),
        [[[{"dim": '{"lamp": "moon"}'}, {"shine": "{}"}], "Done."], ["Done."], ["Done."]],
        [
            *(None, "Error during execution: 'moon'"),
            "Error during execution: name 'shine' is not defined",
            *("Done.", "And now read it.", "Done.", "There are more tools."),
        ],
    ),
    "calls in text": (
        *(PROMPT, [Reply("[dim(lamp='hall', level=4.5)]"), DONE, DONE, Reply("read(lamp='hall')"), DONE]),
        [["[dim(lamp='hall', level=4.5)]", "Done."], ["Done."], ["read(lamp='hall')", "Done."]],
        [
            *("Dim the hall.", "[dim(lamp='hall', level=4.5)]"),
            repr([{"role": "tool", "name": "dim(lamp='hall', level=4.5)", "content": DIMMED}]),
            *("Done.", "And now read it.", "Done."),
            f"{[SAMPLE.extra['held_back'][0]]}: There are more tools.",
            "read(lamp='hall')",
            repr([{"role": "tool", "name": "read(lamp='hall')", "content": HALL}]),
        ],
    ),
}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_turns_are_asked_with_what_calls_returned(name: str, box: Sandbox) -> None:
    pipeline, replies, answer, contents = CONVERSATIONS[name]
    questions, result = talk(pipeline, box, *replies)
    assert (result.prediction, result.stop) == (answer, "answered")
    assert [message["content"] for message in questions[-1].messages[1:]] == contents
    offered = [[tool["function"]["name"] for tool in question.tools] for question in questions]
    assert offered[0] == (["dim", "end"] if pipeline == CALLS else [])
    assert offered[-1] == (["dim", "end", "read"] if pipeline == CALLS else [])


def test_a_turn_that_never_ends_ends_all(box: Sandbox) -> None:
    questions, result = talk(CALLS, box, called(DIM, ids=False))
    assert (len(questions), len(result.prediction), result.stop) == (MAX_STEPS + 1, 1, "max_steps")
    assert questions[1].messages[-1] == {"role": "tool", "content": DIMMED, "tool_call_id": "call_1"}
    questions, _ = talk(PROMPT, box, Reply("dim(lamp='hall')"), steps=2)
    assert len(questions) == 3


# ----------------------------------------------------------------------
# Whole runs.
def perfect(pipeline: str) -> Callable[[list[Any], Any], Reply]:
    """Right answers to the questions of several turns and of one, as their last messages ask for them."""

    def answer(messages: list[Any], tools: Any) -> Reply:
        last = str(messages[-1]["content"])
        asked = messages[-1]["role"] == "user"
        calls = {
            "Dim the hall.": DIM,
            "more tools.": READ,
            "three eggs": ("kitchen_boil", {"eggs": 3, "minutes": 7}),
        }
        call = next(
            (call for text, call in calls.items() if asked and text in last and "'role'" not in last), None
        )
        if "'name': 'read'" in last:
            call = READ
        if call is None:
            return Reply("kitchen.boil(eggs=3)" if "Peru" in last else "Done.")
        if pipeline == CALLS:
            return called(call)
        arguments = ", ".join(f"{key}={value!r}" for key, value in call[1].items())
        return Reply(f"[{call[0].replace('_', '.')}({arguments})]")

    return answer


@pytest.mark.parametrize("pipeline", [CALLS, PROMPT])
def test_a_run_goes_on_in_the_middle_of_a_turn_and_is_scored(pipeline: str, tmp_path: Path) -> None:
    answer = perfect(pipeline)

    def failing(messages: list[Any], tools: Any) -> Reply:
        if "And now read it." in str(messages):
            raise ModelError("gone")
        return answer(messages, tools)

    how: Any = {"benchmark": "bfcl", "pipeline": pipeline, "out": tmp_path / "run"}
    how["ids"] = ["simple_python_0", "irrelevance_0", "multi_turn_miss_func_0"]
    broken = Scripted(failing)
    rows = pe.predict(package(), broken, **how)
    assert [row["error"] and row["error"]["code"] for row in rows] == [None, None, "transport"]
    model = Scripted(answer)
    rows = pe.predict(package(), model, **how)
    assert (broken.asked, model.asked) == (1 + 1 + 3, 3)  # two turns' replies of the first were kept
    assert [row["error"] for row in rows] == [None] * 3
    assert {row["mode"] for row in rows} == {"calls" if pipeline == CALLS else "prompt"}
    more = ["--benchmark", "bfcl"] if pipeline == CALLS else []  # which a run's folder says as well
    done = planeval("score", str(tmp_path / "run"), "--official", "--format", "csv", *more, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    scores = dict(line.split(",")[:2] for line in done.stdout.splitlines())
    named = ("simple_python", "multi_turn_miss_func", "irrelevance")
    # Words that hold a call are one where calls are written in text.
    assert [float(scores[name]) for name in named] == [1.0, 1.0, float(pipeline == CALLS)]


def test_what_was_asked_how_decides_how_words_are_read(tmp_path: Path) -> None:
    words = Scripted(lambda messages, tools: Reply("kitchen.boil(eggs=3, minutes=7)"))
    for pipeline, right in ((CALLS, 0.0), (PROMPT, 1.0)):
        how: dict[str, Any] = {"benchmark": "bfcl", "pipeline": pipeline, "ids": ["simple_python_0"]}
        pe.predict(package(), words, **how, out=tmp_path / pipeline)
        done = planeval("score", str(tmp_path / pipeline), "--official", "--format", "csv", cwd=ROOT)
        scores = dict(line.split(",")[:2] for line in done.stdout.splitlines())
        assert float(scores["simple_python"]) == right


def test_tools_that_end_their_process_are_the_sample_s_failure(tmp_path: Path) -> None:
    model = Scripted(lambda messages, tools: called(("end", {})))
    rows = pe.predict(package(), model, benchmark="bfcl", ids=["multi_turn_miss_func_0", "simple_python_0"])
    assert [row["error"] and row["error"]["code"] for row in rows] == [None, "failed"]
    assert "the tools did not answer: " in rows[1]["error"]["message"]


@tabled("argv, said")
def test_what_cannot_be_asked_is_said(argv: list[str], said: str) -> None:
    done = planeval(
        "predict", str(package()), "--benchmark", "bfcl", "--dry-run", *argv, cwd=ROOT, COLUMNS="200"
    )
    assert (done.returncode, said in done.stderr, done.stdout) == (2, True, ""), done.stderr


def test_what_is_not_asked_is_named_and_counted() -> None:
    done = planeval("predict", str(package()), "--benchmark", "bfcl", "--dry-run", "--limit", "1", cwd=ROOT)
    assert done.returncode == 0
    assert (
        "not asked: web_search_base, web_search_no_snippet (2 samples): its tools search the " in done.stderr
    )
    assert "not asked: format_sensitivity (26 samples): it varies the prompt of models that " in done.stderr
    argv = ["--pipeline", "prompt", "--run", "category=format_sensitivity", "--limit", "1"]
    done = planeval("predict", str(package()), "--benchmark", "bfcl", "--dry-run", *argv, cwd=ROOT)
    system = json.loads(done.stdout)["messages"][0]["content"]
    assert "Write <TOOLCALL>[tool(key=value)]</TOOLCALL>." in system
    assert "(float): How long." in system


def test_texts_are_read_and_no_code_is_run(tmp_path: Path) -> None:
    texts = published_texts(str(package()))
    assert (texts["STEPS"], "ENVIRONMENT" in texts) == (20, False)
    with pytest.raises(InputError, match="has no text plaintext of NO_SUCH: is it another version"):
        published_text(str(package()), "NO_SUCH", "plaintext")
    (tmp_path / "constants").mkdir()
    for content in (None, "x = (", "\0"):
        if content is not None:
            (tmp_path / "constants" / "default_prompts.py").write_text(content)
        with pytest.raises(InputError, match="published prompts cannot be read"):
            published_texts(str(tmp_path))
    samples = str(ROOT / "data" / "samples" / "bfcl")
    done = planeval("predict", samples, "--benchmark", "bfcl", "--pipeline", "prompt", "--dry-run", cwd=ROOT)
    assert (done.returncode, "published prompts cannot be read" in done.stderr) == (2, True)


def test_gold_calls_that_take_an_earlier_result_are_counted() -> None:
    """The level 99 is known from a result alone; the lamp's name was given before one held it."""
    read = "read(lamp='hall')"
    truth = [[read, f"dim(lamp='attic', level={level})"] for level in (99, 45)] + [["read('hall')"]]
    lamps: Any = {"MessageAPI": {"lamps": {"hall": 99, "attic": 1}}}
    question = SAMPLE.extra["question"] | {"initial_config": lamps}
    sample = replace(SAMPLE, extra={**SAMPLE.extra, "ground_truth": truth, "question": question})
    counts = {"plans": 1, "calls": 5, "arguments": 7, "ambiguous calls": 2, "ambiguous arguments": 2}
    assert +count_references([sample]) == counts | {
        f"taking {name}": 1 for name in ("plans", "calls", "arguments")
    }
    cells = {cell.row: cell.value for cell in BENCHMARKS["bfcl"].tables([sample])}
    assert (cells["Calls that use a result"], cells["multi_turn_miss_func"]) == (1, 1)
    without_tools = replace(sample, extra={**sample.extra, "package": "/nowhere"})
    assert count_references([without_tools]) == {}


@pytest.mark.parametrize("several", [False, True])
def test_tools_that_need_a_package_which_is_not_installed_end_the_command(
    several: bool, tmp_path: Path
) -> None:
    """Their calls would fail on both sides, and a figure would say something of this machine."""
    folder, result = tmp_path / "bfcl_eval", tmp_path / "BFCL_v4_multi_turn_miss_func_result.json"
    shutil.copytree(package(), folder)
    tools = folder / "eval_checker" / "multi_turn_eval" / "func_source_code" / "message_api.py"
    tools.write_text(f"import not_there_2718\n{tools.read_text()}")
    result.write_text(json.dumps({"id": SAMPLE.id, "result": [[], [], []]}))
    files = ("compare", result, result, "--gold") if several else ("score", result)
    done = planeval(*map(str, files), str(folder), "--benchmark", "bfcl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "MessageAPI needs not_there_2718, not installed here: pip install not_there_2718" in done.stderr
