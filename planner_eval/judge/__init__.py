"""One interface to model-based judging and matching: ask, and get a text back.

Whatever wants a model's opinion takes a :class:`Judge` and calls ``ask``; it neither knows nor cares
whether an endpoint, a cache of earlier answers or a function of a test replies.

    from planner_eval.judge import Judge, JudgeReply, JudgeRequest   # the interface; imports nothing heavy
    from planner_eval.judge.endpoint import Endpoint                 # an OpenAI-compatible server
    from planner_eval.judge.cache import Cache                       # SQLite; replay without a network
    from planner_eval.judge import prompts                           # what the papers ask a judge for
"""

from planner_eval.judge.protocol import (
    Judge,
    JudgeReply,
    JudgeRequest,
    Message,
    ScriptedJudge,
    Usage,
    request_key,
)

__all__ = ["Judge", "JudgeReply", "JudgeRequest", "Message", "ScriptedJudge", "Usage", "request_key"]
