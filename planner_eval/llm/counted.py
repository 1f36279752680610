"""A judge that counts what it was asked, for whoever has to say what could not be had."""

from __future__ import annotations

from planner_eval.base.errors import JudgeError
from planner_eval.llm.protocol import Judge, JudgeReply, JudgeRequest


class Counted:
    """Another judge, counted.

    Args:
        judge: Who answers.

    >>> from planner_eval.llm.protocol import ScriptedJudge
    >>> judge = Counted(ScriptedJudge(lambda request: "pass"))
    >>> judge.ask(JudgeRequest("t", (("user", "ok?"),))).text, judge.asked, judge.failed
    ('pass', 1, 0)
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.asked = 0
        self.failed = 0
        self.cost = 0.0  # of what was not answered from a cache, where prices are known
        self.reason = ""

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """The judge's answer; the first reason for a failure is kept.

        Raises:
            JudgeError: as the judge.
        """
        self.asked += 1
        try:
            reply = self.judge.ask(request)
        except JudgeError as problem:
            self.failed += 1
            self.reason = self.reason or str(problem)
            raise
        self.cost += 0.0 if reply.cached else reply.usage.cost or 0.0
        return reply
