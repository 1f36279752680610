"""Scenes played by real frameworks: `check` warns of what is wrong in their traces, and of nothing else."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest

import planner_eval as pe
from tests.conftest import ROOT
from tests.test_integrations import environment

PLAYERS = {
    "openai_agents": ("openai-agents",),
    "pydantic_ai_otlp": ("pydantic-ai-slim", "opentelemetry-sdk", "opentelemetry-exporter-otlp-json-file"),
}
FOLDER = ROOT / "tests" / "exporters"


@pytest.mark.long
@pytest.mark.parametrize("player", PLAYERS)
def test_of_each_scene_that_is_told_which_is_there(player: str, tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", PLAYERS[player])
    traces = tmp_path / "traces"
    traces.mkdir()
    command = [python, FOLDER / f"{player}.py", traces]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    scenes = runpy.run_path(str(FOLDER / "scenes.py"))["SCENES"]
    found = {
        scene: [one.code for one in pe.check(traces / f"{scene}.jsonl", level="warning")] for scene in scenes
    }
    assert found == {scene: codes for scene, (_, codes) in scenes.items()}
