"""The error classes of other benchmarks, and the codes that say the same here.

Ours say more: where the others have one class for a wrong value, a reference to the wrong call, to the
wrong output and a literal in place of a reference are told apart.
"""

from __future__ import annotations

UNREADABLE = "unreadable"
"""Not an edit: the prediction could not be read, which is a row's state."""

CLASSES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "BFCL": (
        ("simple_function_checker:wrong_func_name", ("call.replaced", "app.changed")),
        ("simple_function_checker:wrong_count", ("call.missing", "call.extra", "call.duplicated")),
        ("multiple_function_checker:wrong_count", ("call.missing", "call.extra", "call.duplicated")),
        ("parallel_function_checker_no_order:wrong_count", ("call.missing", "call.extra", "call.duplicated")),
        ("parallel_function_checker_no_order:cannot_find_match", ("call.missing", "call.replaced")),
        ("simple_function_checker:missing_required", ("argument.missing",)),
        ("simple_function_checker:missing_optional", ("argument.missing",)),
        ("simple_function_checker:unexpected_param", ("argument.extra", "argument.renamed")),
        ("type_error:simple", ("argument.type",)),
        ("type_error:nested", ("argument.type",)),
        ("type_error:java", ("argument.type",)),
        ("type_error:js", ("argument.type",)),
        ("value_error:string", ("argument.value",)),
        ("value_error:list/tuple", ("argument.value",)),
        ("value_error:dict_key", ("argument.value",)),
        ("value_error:dict_value", ("argument.value",)),
        ("value_error:list_dict_count", ("argument.value",)),
        ("value_error:others", ("argument.value",)),
        ("ast_decoder:decoder_failed", (UNREADABLE,)),
        ("ast_decoder:decoder_wrong_output_format", (UNREADABLE,)),
    ),
    "NesTools": (
        ("nested: omission", ("argument.missing", "reference.literal")),
        ("nested: unfound", ("reference.unresolved",)),
        ("nested: wrong place", ("reference.producer", "reference.output")),
        ("nested: hallucination", ("reference.unwanted",)),
        ("parameter: type", ("argument.type",)),
        ("parameter: extraction", ("argument.value",)),
        ("parameter: transformation", ("argument.value",)),
        ("parameter: omission", ("argument.missing",)),
        ("parameter: redundancy", ("argument.extra", "argument.renamed")),
    ),
    "ComplexFuncBench": (
        ("func_error", ("call.replaced", "app.changed", "call.extra")),
        ("func_hallucination", ("call.extra", "call.duplicated")),
        ("param_missing", ("argument.missing",)),
        ("param_hallucination", ("argument.extra", "argument.renamed")),
        (
            "value_error",
            (
                "argument.value",
                "argument.type",
                "reference.literal",
                "reference.producer",
                "reference.output",
            ),
        ),
        ("stop_early", ("call.missing",)),
    ),
    "AppBench": (
        ("key error, independent", ("argument.missing", "argument.renamed")),
        ("key error, dependent", ("argument.missing", "argument.renamed")),
        ("value error, independent", ("argument.value", "argument.type", "reference.unwanted")),
        (
            "value error, dependent",
            ("reference.literal", "reference.producer", "reference.output", "reference.unresolved"),
        ),
    ),
    "FunctionChat-Bench": (
        ("a call where none was wanted", ("call.extra",)),
        ("no call where one was wanted", ("call.missing",)),
        ("another function", ("call.replaced",)),
        ("an argument that gold lacks", ("argument.extra", "argument.renamed")),
        ("an argument's value", ("argument.value", "argument.type", "argument.missing")),
        ("arguments that are no JSON", (UNREADABLE,)),
    ),
}
"""Benchmark → its error classes, each with the codes that say the same."""
