"""Integrations against the real packages, each in an environment of its own; their versions are printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

TORCH = os.environ.get("PLANEVAL_TORCH", "torch==2.13.0")
"""What is installed as torch: its newest release may bring gigabytes that only a GPU needs."""


def environment(folder: Path, *packages: str) -> Path:
    """The Python of a new environment with packages, and this project as it is built."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    for step in (packages, (str(ROOT),)):
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *step], capture_output=True, text=True
        )
        if done.returncode:
            pytest.skip(f"{' '.join(step)} cannot be installed here: {done.stderr.strip()[-300:]}")
    return python


@pytest.mark.long
def test_trl_trains_with_our_rewards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = environment(tmp_path / "env", TORCH)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "trl"], check=True)
    script = ROOT / "tests" / "integrations_trl.py"
    offline = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": "", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [python, str(script), str(tmp_path / "out")], env=offline, cwd=tmp_path, capture_output=True,
        text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    with capsys.disabled():
        print(f"\ntried with {', '.join(f'{name} {number}' for name, number in found['versions'].items())}")
    assert len(found["logged"]) == 2
