"""A small package in the layout of BFCL's, all of it our own: questions, tools as classes, prompts."""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, tables

TABLES = tables(__file__)

PROMPTS = """
STEPS = 20
OUTPUT_FORMAT_MAPPING = {
    "python": "[tool(key=value)]", "json": '[{"function": "tool", "parameters": {}}]',
    "verbose_xml": "<functions>long</functions>", "concise_xml": "<functions>short</functions>",
}
PARAM_TYPE_MAPPING = {"python": "", "json": "", "verbose_xml": "Give types.", "concise_xml": "Give types."}
PROMPT_STYLE_TEMPLATES = {
    "classic": {
        "persona": "You call tools.", "task": "Answer {so}.", "multiturn_behavior": "Go on until done.",
        "tool_call_no_tag": "Write {output_format}. {param_types}",
        "tool_call_with_tag": "Write <TOOLCALL>{output_format}</TOOLCALL>. {param_types}",
        "available_tools": "Tools, as {format}:\\n{functions}\\n",
    },
    "experimental": {},
}
_PLAIN = "{persona} {task}\\n{tool_call_format}\\n{multiturn_behavior}\\n{available_tools}"
PROMPT_TEMPLATE_MAPPING = {"plaintext": _PLAIN, "markdown": "# " + _PLAIN}
DEFAULT_SYSTEM_PROMPT_FORMAT = (
    "ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=classic"
)
DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC = "There are more tools."
DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING = (
    "{functions}: " + DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC
)
ENVIRONMENT = __import__("os").environ
"""

LAMPS = """
import os


class MessageAPI:
    def _load_scenario(self, scenario, long_context=False):
        self.lamps = scenario.get("lamps", {})

    def dim(self, lamp, level=3):
        if lamp not in self.lamps:
            raise KeyError(lamp)
        self.lamps[lamp] = level
        return {"level": level}

    def read(self, lamp):
        return {"lamp": lamp, "level": self.lamps.get(lamp)}

    def end(self):
        os._exit(3)
"""


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
