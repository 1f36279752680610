"""Plays the scenes with Pydantic AI, and has OpenTelemetry's file exporter write the spans."""

from __future__ import annotations

import sys
from typing import Any

from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent, InstrumentationSettings, ModelResponse, ModelRetry, TextPart, ToolCallPart
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.models.function import FunctionModel
from scenes import COUNTS, SCENES, TOOLS, get_rate


def retried(base: str, quote: str) -> dict[str, Any]:
    """The rate of two currencies; what it does not know the model may ask again."""
    try:
        return get_rate(base, quote)
    except ValueError as error:
        raise ModelRetry(str(error)) from None


retried.__name__ = "get_rate"

for scene, (turns, _) in SCENES.items():
    COUNTS.clear()
    said = iter(turns)

    def answer(_messages: Any, _info: Any, said: Any = said) -> ModelResponse:
        turn = next(said)
        if isinstance(turn, str):
            return ModelResponse(parts=[TextPart(turn)])
        return ModelResponse(parts=[ToolCallPart(name, arguments) for name, arguments in turn])

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(FileSpanExporter(f"{sys.argv[1]}/{scene}.jsonl")))
    told = Instrumentation(settings=InstrumentationSettings(tracer_provider=provider))
    agent = Agent(FunctionModel(answer), tools=[retried, *TOOLS[1:]], retries=5, capabilities=[told])
    agent.run_sync("Help me.")
    provider.shutdown()
