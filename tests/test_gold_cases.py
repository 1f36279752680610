"""Minimal cases of what is no fault of gold and of what is: a record or a few, and what is found there."""

import json
from pathlib import Path
from typing import Any

import pytest

import planner_eval as pe
from tests.inside import planeval


def tool(name: str, required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": "", "parameters": schema}


def call(tool_name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": tool_name, "arguments": arguments}


def record(question: Any, *calls: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "q", "question": question, "gold": list(calls), **fields}


TEXT, NUMBER, FLAG, LIST = ({"type": kind} for kind in ("string", "number", "boolean", "array"))
PAY = tool("pay", user=TEXT)
UNIT = {"type": "string", "enum": ["seconds", "milliseconds"], "default": "N/A"}
RETURNED = (call("find_user", name="Yusuf Rossi"), call("exchange", item_ids=["1151293680"]))
HEAT = {"type": "string", "enum": ["metric", "imperial"],
        "description": "Units: 'metric' for Celsius, 'imperial' for Fahrenheit"}  # fmt: skip
CITY = {"question": "A cheap room in Rome", "tools": [tool("book", city=TEXT)]}


def said(question: str, value: Any, **properties: Any) -> dict[str, Any]:
    return record(question, call("f", x=value), tools=[tool("f", x=properties)])


@pytest.mark.parametrize(("records", "found"), [
    # what an earlier call returns, where gold keeps no results; a reference tells literals from results
    (record("I am Yusuf Rossi. Exchange the keyboard.", *RETURNED), {"gold.ungrounded low"}),
    (record("Please pay the bill of Kim", call("pay", user="U1234"), tools=[PAY]), {"gold.ungrounded high"}),
    (record("Please pay the bill of Kim", call("pay", user="U1234")), {"gold.ungrounded medium"}),
    ([record(f"Please pay bill {n} of Kim", call("pay", user=f"U{n}234"), tools=[PAY]) | {"id": f"r{n}"}
      for n in range(6)],
     {"gold.ungrounded low"}),
    # faults of a tool's description are told once, with codes of their own
    ([record("Wait a bit.", call("wait", unit="N/A"), tools=[tool("wait", unit=UNIT)]) | {"id": key}
      for key in "ab"], {"gold.tool_default high"}),
    (record("Wait.", call("wait", end=None), tools=[tool("wait", end={**TEXT, "default": None})]),
     {"gold.tool_default low"}),
    (record("Heat and cold.", call("f", x=["heat", "cold"]),
            tools=[tool("f", x={"type": "array", "enum": ["heat", "cold"]})]), {"gold.tool_enum high"}),
    # what may be left out is no value
    ({"id": "q", "question": "Show the map", "function": [tool("show", cities=LIST)],
      "ground_truth": [{"show": {"cities": [""]}}]}, set()),
    ({"id": "q", "question": "Show the map", "function": [tool("show", rate=NUMBER)],
      "ground_truth": [{"show": {"rate": ["", 0.05]}}]}, set()),
    # dates, places, numbers, units
    (said("Book the flight on April 15th please", "2023-04-15T00:00"), set()),
    (said("It has the creation timestamp '2023-03-05T16:45:00Z'", "2023-03-05T16:45:00Z"), set()),
    (said("I want a plot of 10.5 hectares", "2023-05-10"), {"gold.ungrounded medium"}),
    (said("I want a hotel in LA", "Los Angeles, CA"), set()),
    (said("Show people aged 18 to 65", "18-65"), set()),
    (said("Show my account ID123456789", "123456789"), set()),
    (said("It has a charge of 5 x 10^-12 C", 5e-12), set()),
    (said("He is a man 6 feet 2 inches tall", 74), set()),
    (said("He is a man 6 feet 2 inches tall", 73), {"gold.ungrounded low"}),
    (said("A room from August 15th to August 17th", 2), set()),
    (said("I like music of the '10s", 2010), set()),
    (said("My card expires 12/25 and is blue", "12/2025"), set()),
    # positional arguments; both sides of a flag; a variable of a program
    (record("Please sort final_report.pdf", "sort('final_report.pdf')",
            tools=[tool("sort", ("file",), file=TEXT)]), set()),
    (record("List the files, hidden and not hidden ones", call("ls", hidden=True), call("ls", hidden=False),
            tools=[tool("ls", hidden=FLAG)]), {"gold.ungrounded low"}),
    (said("Sort the items of the list `items` for me", "items", **LIST), {"gold.wrong_type low"}),
    # what may be left out inside of an object; sequences; what a program computes; volumes
    ({"id": "q", "question": "Set the air conditioner to dry",
      "function": [tool("set", body={"type": "object"})],
      "ground_truth": [{"set": {"body": [{"mode": ["dry"], "heat": ["", 24]}]}}]}, set()),
    (said("The mean of the values from 22 to 30, incrementing by 2", [22, 24, 26, 28, 30], **LIST), set()),
    (said("The mean of the values from 22 to 30 by 2", [22, 24, 25, 30], **LIST), {"gold.ungrounded low"}),
    (record("A chance of one in six please", "f(x=1/6)", tools=[tool("f", x=NUMBER)]), set()),
    (said("The cube of 300 grams has 50 cubic centimeters", 0.00005, **NUMBER), set()),
    (said("The price of all items whose category is Electronics", "UPDATE", type="string",
          enum=["SELECT", "UPDATE"]), {"gold.ungrounded low"}),
    # part of another identifier; another letter than what is quoted; one finding for the items of a list
    (said("Dispute the transaction txn_e9d195fe8e_001 please", "e9d195fe8e"), {"gold.ungrounded medium"}),
    (said("Is there anything new of the Arrivals?", "Arriivals", description="General, Arrivals"),
     {"gold.contradicted medium"}),
    (said("News of airtificial intelligence", "artificial", description="A word"), {"gold.ungrounded low"}),
    (said("An exhibition in February please", "Febuary"), {"gold.contradicted medium"}),
    # a name, a quoted text, a known place: a letter, a word or a sign off; other numbers are other things
    (said("Scan the dance style of Africa please", "192.168.100.164"), {"gold.ungrounded high"}),
    (said("Make a new file 'notes.md' for me", "note.md"), {"gold.contradicted high"}),
    (said("Make the new file report_count.txt", "report_count"), {"gold.contradicted medium"}),
    (said("Compare file1.txt and file2.txt", "file3.txt"), set()),
    (said("Write 'Concerns regarding the seats' to them", "Concern regarding the seats"),
     {"gold.contradicted medium"}),
    (said("Write 'Help with the transaction details' to them", "Help with transaction details"),
     {"gold.contradicted medium"}),
    (said("Title it 'The news of our day' please", "The news – of our day"), {"gold.contradicted low"}),
    (said("Find hotels in San Diego please", "San Diago, CA"), {"gold.contradicted medium"}),
    (said("Is this text in the German language?", "Germany"), set()),
    (said("Is there a show next month (Feb)?", "Febuary"), {"gold.contradicted medium"}),
    (said("Tell them that the demo is at 3pm", "The demo is at 15:00."), set()),
    (said("Write to Katherine Jones today", "Katharine Jones"), {"gold.contradicted medium"}),
    (said("Write to Katherine Jones today", "Kathleen Jones"), set()),
    (said("Write to Hans Müller today", "Hans Muller"), set()),
    (said("Tell them, mentioning Jerry", "Jerry", description="Names should start with @."),
     {"gold.pattern medium"}),
    (said("Tell them, mentioning @Jerry", "@Jerry", description="Names should start with @."), set()),
    # what every record contradicts is told once, of the tool; what some do, of each
    ([record(f"Open the file {n} now", call("f", x=[n]), tools=[tool("f", x=TEXT)]) | {"id": f"r{n}"}
      for n in range(20, 25)], {"gold.tool_schema medium"}),
    ([record(f"Open the file {n} now", call("f", x=str(n) if n % 2 else [n]), tools=[tool("f", x=TEXT)])
      | {"id": f"r{n}"} for n in range(20, 30)], {"gold.wrong_type medium"}),
    # what is missed although the words are there
    ({"id": "q", "question": "How warm is Rome?",
      "ground_truth": [{"f": {"city": ["Rome", ""], "unit": ["C", "c"]}}],
      "function": [tool("f", ("city",), city=TEXT, unit={"enum": ["C"]})]},
     {"gold.omittable high", "gold.accepted high", "gold.ungrounded low"}),
    (record("Book the cheap room in Rome", call("book", where={"city": "Oslo"}),
            tools=[tool("book", where={"type": "object"})]), {"gold.ungrounded high"}),
    (said("Call `cleanupStageFunction` now", "cleanupStageFunctio"), {"gold.contradicted high"}),
    (said("Pass it the `parameterObjects` of the page", "parameterObject"), {"gold.contradicted high"}),
    (said("Call `cleanupStageFunction` now", "cleanupFunction"), {"gold.contradicted medium"}),
    (said("Today is 2031-03-07. Book a table for next Monday.", "2031-03-11"), {"gold.contradicted high"}),
    (said("Today is 2031-03-07. Book a table for next Monday.", "2031-03-10"), set()),
    (said("How warm is it in Rome, in Fahrenheit?", "metric", **HEAT), {"gold.contradicted medium"}),
    (said("How warm is it in Rome, in Celsius?", "metric", **HEAT), set()),
    ([CITY | {"id": key, "ground_truth": [{"book": {"city": cities}}]}
      for key, cities in {"a": ["Rome"], "b": ["Rome", "Roma"]}.items()], {"gold.disagreeing medium"}),
])  # fmt: skip
def test_what_is_found_in_a_minimal_case(records: Any, found: set[str]) -> None:
    records = records if isinstance(records, list) else [records]
    check = pe.check_dataset(
        records, confidence="low", select=["gold"], text_field="gold" if "gold" in records[0] else None
    )
    assert {f"{doubt.found.code} {doubt.found.confidence}" for doubt in check.doubts} == found
    of_tools = [doubt for doubt in check.doubts if doubt.found.code.startswith("gold.tool_")]
    assert len(of_tools) == len({doubt.found.message for doubt in of_tools})


def test_what_would_mend_gold_is_a_patch_with_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    records = [
        record(
            "Call `cleanupStageHook` now", call("run", hook="cleanupStageHok"), tools=[tool("run", hook=TEXT)]
        ),
        record("Book it for Kim", call("book", guets="Kim"), tools=[tool("book", ("guest",), guest=TEXT)]),
        record("It is in order", call("run", hook="order"), tools=[tool("run", hook=TEXT)]),
    ]
    rows = [{**row, "id": str(number)} for number, row in enumerate(records)]
    Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert planeval("data", "check", "gold.jsonl", "--fix", "fixes.jsonl").returncode == 1
    patches = [json.loads(line) for line in Path("fixes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [patch["id"] for patch in patches] == ["0", "1"]
    assert all("[gold." in operation["why"] for patch in patches for operation in patch["operations"])
    applied = [pe.apply(patch, pe.parse(row["gold"])) for row, patch in zip(rows, patches, strict=False)]
    found = [dict(plan.calls[0].arguments) for plan in applied]
    assert found == [{"hook": "cleanupStageHook"}, {"guest": "Kim"}]
