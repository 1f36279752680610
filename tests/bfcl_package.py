"""A small package in the layout of BFCL's, all of it our own: questions, tools as classes, prompts."""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, tables, text_case

TABLES = tables(__file__)

PROMPTS = text_case("bfcl_package-PROMPTS.txt")

LAMPS = text_case("bfcl_package-LAMPS.txt")


def tool(name: str, **properties: str) -> dict[str, Any]:
    typed = {key: {"type": kind, "description": f"The {key}."} for key, kind in properties.items()}
    schema = {"type": "dict", "properties": typed, "required": ["lamp"]}
    return {"name": name, "description": f"To {name} a lamp.", "parameters": schema}


TOOLS = [tool("dim", lamp="string", level="float"), tool("read", lamp="string"), tool("end")]

QUESTION = TABLES["QUESTION"]
TRUTH = [["dim(lamp='hall', level=4.5)"], [], ["read(lamp='hall')"]]


@cache
def package() -> Path:
    """The folder of the package; its questions are our samples, one of several turns among them."""
    folder = Path(tempfile.mkdtemp(prefix="bfcl-package"))
    data, code = folder / "data", folder / "eval_checker" / "multi_turn_eval" / "func_source_code"
    for place in (data / "possible_answer", data / "multi_turn_func_doc", code, folder / "constants"):
        place.mkdir(parents=True)
    for file in (ROOT / "data" / "samples" / "bfcl").rglob("*.json"):
        (data / file.relative_to(ROOT / "data" / "samples" / "bfcl")).write_bytes(file.read_bytes())
    write_lines(data / "BFCL_v4_multi_turn_miss_func.json", [QUESTION])
    write_lines(
        data / "possible_answer" / "BFCL_v4_multi_turn_miss_func.json",
        [{"id": QUESTION["id"], "ground_truth": TRUTH}],
    )
    write_lines(data / "multi_turn_func_doc" / "message_api.json", TOOLS)
    (data / "BFCL_v4_format_sensitivity.json").write_text(json.dumps({"simple_python": ["simple_python_0"]}))
    (code / "message_api.py").write_text(LAMPS)
    (folder / "constants" / "default_prompts.py").write_text(PROMPTS)
    return folder


def write_lines(path: Path, records: list[Any]) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
