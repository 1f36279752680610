"""What a pipeline is told that it cannot use, said before anything is asked."""

from __future__ import annotations

from planner_eval.base.days import day_of
from planner_eval.base.errors import InputError
from planner_eval.base.text import shortened
from planner_eval.prediction.constraint import refuse_unserved
from planner_eval.prediction.pipeline import Pipeline
from planner_eval.prediction.setup import Setup, refuse_texts


def refuse_setup(setup: Setup, chosen: Pipeline, form: str) -> None:
    """Refuse what has no effect, or cannot have the one that is wanted.

    Args:
        setup: What the pipeline is told.
        chosen: The pipeline.
        form: The data set.

    Raises:
        InputError: says what applies where.
    """
    if setup.history != "gold" and chosen.name != "dialog":
        raise InputError(f"--history {setup.history} applies only with --pipeline dialog, not {chosen.name}")
    if setup.explain_references and (chosen.name, form) != ("flat", "nestful"):
        message = f"--explain-references applies only to NESTful's prompt of flat, not to {chosen.name}"
        raise InputError(f"{message} of {form}")
    refuse_texts(setup.prompts, chosen.name, form, chosen.serves[form])
    if setup.dialect is not None and (chosen.name, form) != ("flat", "own"):
        message = f"--dialect applies only to flat with tasks of your own, not to {chosen.name}"
        raise InputError(f"{message}{'' if form == 'own' else f' of {form}'}")
    if setup.listing and not _lists_tools(chosen.name, form):
        message = f"--list-form applies only to prompts that list tools, not to {chosen.name}"
        raise InputError(f"{message}{'' if form == 'own' else f' of {form}'}")
    if setup.steps is not None and not _makes_calls(setup, chosen.name, form):
        message = (
            "--max-steps applies only where calls are made: react, stepwise, function-calling with --tools"
        )
        raise InputError(f"{message}; not to {chosen.name}{'' if form == 'own' else f' of {form}'}")
    _refuse_date(setup.today, form)
    if setup.constrain is not None:
        refuse_unserved(setup.constrain, chosen.name, form, setup.notation)


def _lists_tools(name: str, form: str) -> bool:
    """Whether a pipeline's prompt lists tools in a form that can be chosen, not the data set's own."""
    return form == "callnavi" or (form == "own" and name in ("flat", "react"))


def _makes_calls(setup: Setup, name: str, form: str) -> bool:
    many_turns = name == "function-calling" and form == "own" and setup.makes_calls
    return name in ("react", "stepwise") or many_turns


def _refuse_date(today: str, form: str) -> None:
    """Refuse a day of AppBench's instructions that is none, or that nothing reads."""
    if form != "appbench" and today != Setup().today:
        raise InputError(
            f"--today applies only to AppBench, whose instructions are read on a day, not to {form}"
        )
    if day_of(today) is None:
        raise InputError(f"--today is {shortened(repr(today), 40)}, expected a day, yyyy-mm-dd")
