"""Tools that are edited while plans run: the figures would be of two versions, so none are told."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, until
from tests.test_cli import planeval

TOOLS = """
import os, time
def slow():
    begun = os.open({pipe!r}, os.O_RDONLY | os.O_NONBLOCK)
    time.sleep(.05)
    os.close(begun)
    return {value}
"""


def opened(pipe: Path) -> bool:
    """Whether somebody reads a pipe: a tool is at work."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


@pytest.mark.parametrize("more", ["", "--jobs 2 --part 3", "-o run/", "-o run/ --jobs 2"])
def test_tools_that_are_edited_meanwhile_are_refused(tmp_path: Path, more: str) -> None:
    file, tools, pipe = (tmp_path / name for name in ("p.jsonl", "t1.py", "begun"))
    one = json.dumps([{"name": "slow", "arguments": {}}])
    file.write_text("".join(json.dumps({"id": f"p{at}", "output": one}) + "\n" for at in range(30)))
    os.mkfifo(pipe)
    tools.write_text(TOOLS.format(pipe=str(pipe), value=1))
    argv = ["execute", str(file), "--tools", str(tools), "--isolation", "process", "--allow-read", str(pipe)]
    argv += [f"{tmp_path}/run/" if word == "run/" else word for word in more.split()]
    how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-m", "planner_eval", *argv], cwd=tmp_path, env=env, **how)
    until(lambda: opened(pipe) or process.poll() is not None)
    tools.write_text(TOOLS.format(pipe=str(pipe), value=2))
    out, err = process.communicate(timeout=120)
    if "isolation level" in err:
        pytest.skip(err)
    assert (process.returncode, out) == (2, "")
    assert f"{tools} changed while it was used" in err
    if "-o" in argv:
        again = planeval(*argv)
        assert (again.returncode, "t1.py" in again.stderr) == (2, True)
        assert not (tmp_path / "run" / "rows.jsonl").exists()
