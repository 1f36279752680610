"""Plays the scenes with the OpenAI Agents SDK, and writes what its traces and spans export."""

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents import Agent, Runner, function_tool, generation_span, set_trace_processors
from agents.exceptions import AgentsException
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.run import RunConfig
from agents.tracing import TracingProcessor
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from scenes import COUNTS, SCENES, TOOLS


class Scripted(Model):
    def __init__(self, turns: list[Any]) -> None:
        self.turns = iter(turns)
        self.made = 0

    async def get_response(self, *_given: Any, **_more: Any) -> ModelResponse:
        with generation_span(model="scripted") as span:
            turn = next(self.turns)
            output = [self.words(turn)] if isinstance(turn, str) else [self.call(*each) for each in turn]
            span.span_data.output = [item.model_dump() for item in output]
            return ModelResponse(output=output, usage=Usage(), response_id=None)

    def words(self, text: str) -> ResponseOutputMessage:
        content = [ResponseOutputText(type="output_text", text=text, annotations=[])]
        return ResponseOutputMessage(
            id="m", type="message", role="assistant", status="completed", content=content
        )

    def call(self, name: str, arguments: dict[str, Any]) -> ResponseFunctionToolCall:
        self.made += 1
        given = {"name": name, "arguments": json.dumps(arguments), "type": "function_call"}
        return ResponseFunctionToolCall(call_id=f"call_{self.made}", **given)

    def stream_response(self, *_given: Any, **_more: Any) -> Any:
        raise NotImplementedError


class Written(TracingProcessor):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def on_trace_start(self, trace: Any) -> None:
        self.lines.append(json.dumps(trace.export()))

    def on_span_end(self, span: Any) -> None:
        self.lines.append(json.dumps(span.export()))

    def on_trace_end(self, trace: Any) -> None: ...
    def on_span_start(self, span: Any) -> None: ...
    def shutdown(self) -> None: ...
    def force_flush(self) -> None: ...


for scene, (turns, _) in SCENES.items():
    COUNTS.clear()
    written = Written()
    set_trace_processors([written])
    agent = Agent(name="a", model=Scripted(turns), tools=[function_tool(tool) for tool in TOOLS])
    with suppress(AgentsException):  # of a tool that there is not
        asyncio.run(Runner.run(agent, "Help me.", run_config=RunConfig(workflow_name=scene)))
    Path(sys.argv[1], f"{scene}.jsonl").write_text("\n".join(written.lines), encoding="utf-8")
