"""Values and exceptions with a will of their own: a row each, and nothing for the plans beside."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.sandbox.values import FORGED
from tests.test_cli import planeval

TOOLS = Path(__file__).parent / "sandbox" / "values.py"
NAMES = [name for name in re.findall(r"^(?:async )?def (\w+)", TOOLS.read_text(), re.M) if name != "well"]
DIE = {
    "closes_what_is_open", "breaks_the_interpreter", "breaks_what_runs_it", "rings_later",
    "ends_as_it_is_forgotten",
}  # fmt: skip
"""Those that end their process, whatever it is."""
FAIL = {name for name in NAMES if name.startswith("raises_")} | {
    "without_end", "asynchronously_without_end", "awaited_for_what_is_none", "traces_what_follows",
}  # fmt: skip
NOT_HERE = {*DIE, "traces_what_follows", "items_without_end", "prints_a_reply"}
"""What planeval's own process cannot be kept from, where the user has tools run in it."""
SHOWN = {
    "integer_forges": 3, "number_forges": 3.0, "complex_forges": {"~": "complex", "v": ["1.0", "0.0"]},
    "bytes_forge": {"~": "bytes", "v": "616263"}, "string_forges": FORGED,
    "type_without_a_name": {"~": "object", "type": "object", "text": "unreadable: SystemExit"},
    "cycle": {"~": "object", "type": "list", "text": "nests deeper than 100 levels"},
}  # fmt: skip

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation: strict needs Linux")


@pytest.mark.parametrize("form", ["jsonl", "text", "csv", "md"])
@pytest.mark.parametrize("level", ["strict", "process", "inline"])
def test_each_is_a_row_of_its_own(level: str, form: str, tmp_path: Path) -> None:
    names = [name for name in NAMES if level != "inline" or name not in NOT_HERE]
    file = tmp_path / "plans.jsonl"
    plans = [(name, {}) for name in names]
    with file.open("w") as out:
        for name, given in plans:
            for tool, arguments in ((name, given), ("well", {"x": 4})):
                out.write(json.dumps({"plan": json.dumps([{"name": tool, "arguments": arguments}])}) + "\n")
    more = ("--timeout", "10") if level != "inline" else ()
    argv = ("--tools", str(TOOLS), "--isolation", level, "--format", form, *more)
    done = planeval("execute", str(file), *argv)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert not re.search("[\x07\x1b]", done.stdout + done.stderr)
    if form != "jsonl":
        assert all(name in done.stdout for name in names)
        return
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 2 * len(names)
    assert [row["calls"][0].get("value") for row in rows[1::2]] == [8] * len(names)
    for name, row in zip(names, rows[::2], strict=True):
        call = row["calls"][0]
        if name in DIE:
            assert row["ended"]["kind"] == "worker-died", (name, row)
            continue
        assert row.get("ended") is None, (name, row)
        assert call["status"] == ("failed" if name in FAIL else "ok"), (name, call)
        if name in FAIL:
            assert 0 < len(call["error"]["kind"]) <= 200
            assert len(call["error"]["message"]) <= 500
        if name in SHOWN:
            assert call["value"] == SHOWN[name], name
