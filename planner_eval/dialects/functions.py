"""Functions that are no tools, by the names that programs have for them."""

from __future__ import annotations

import sys

SHOWING = frozenset({
    "print", "pprint", "display", "console.log", "console.error", "console.info", "console.warn",
    "System.out.println", "System.out.print", "System.err.println", "logging.info", "logger.info",
    "final_answer",
})  # fmt: skip
"""Calls that show a value and are looked through; smolagents' final_answer ends a program."""

BUILTINS = frozenset({
    "abs", "all", "any", "bool", "bytes", "callable", "chr", "dict", "dir", "divmod", "enumerate",
    "eval", "exec", "filter", "float", "format", "frozenset", "getattr", "hasattr", "hash", "hex", "id",
    "input", "int", "isinstance", "issubclass", "iter", "len", "list", "locals", "map", "max", "min",
    "next", "oct", "open", "ord", "pow", "range", "repr", "reversed", "round", "set", "setattr",
    "slice", "sorted", "str", "sum", "super", "tuple", "type", "vars", "zip", "JSON.stringify",
    "JSON.parse", "Object.keys", "Object.values", "parseInt", "parseFloat", "String", "Number",
    "Boolean",
})  # fmt: skip
"""Functions of the languages themselves: no tools where a program calls them on its own values."""

OWN = frozenset({"self", "cls", "this", "super"})
"""What a class calls itself: a method of one is no tool."""

CHANGING = frozenset({
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault",
    "popitem", "add", "discard", "difference_update", "intersection_update",
    "symmetric_difference_update", "appendleft", "extendleft", "popleft", "rotate", "move_to_end",
    "subtract", "push", "shift", "unshift", "splice", "fill", "copyWithin", "set", "delete",
})  # fmt: skip
"""Methods that change a list, an object or a set in place, in Python and in JavaScript."""

CHANGING_FIRST = frozenset({
    "shuffle", "heappush", "heappop", "heapify", "heapreplace", "heappushpop", "insort", "insort_left",
    "insort_right", "setattr", "delattr", "setitem", "delitem", "Object.assign",
})  # fmt: skip
"""Functions of the languages' libraries that change their first argument in place."""

HANDING = frozenset({
    "next", "min", "max", "iter", "reversed", "zip", "enumerate", "filter", "getattr", "map", "vars",
})  # fmt: skip
"""Functions of the language that give what they are given, or a part of it, and no copy."""

CALLING = frozenset({
    "map", "filter", "partial", "submit", "to_thread", "run_in_executor", "starmap", "apply_async",
    "imap", "reduce", "Thread", "Process",
})  # fmt: skip
"""Functions of the languages and their libraries that call what they are given."""

_LOOKING = frozenset({
    "json", "text", "raise_for_status", "read", "readline", "readlines", "close", "result", "done",
    "exception", "isoformat", "strftime", "timestamp", "date", "time", "total_seconds", "to_dict",
    "to_json", "to_string", "tolist", "to_list", "dict", "model_dump", "model_dump_json", "head", "tail",
    "describe", "group", "groups", "then", "catch", "finally", "map", "filter", "forEach", "reduce",
    "some", "every", "includes", "indexOf", "lastIndexOf", "slice", "concat", "flat", "flatMap", "at",
    "has", "entries", "findIndex", "substring", "substr", "charAt", "trim", "trimStart", "trimEnd",
    "padStart", "padEnd", "repeat", "match", "test", "toString", "toFixed", "toUpperCase", "toLowerCase",
    "toISOString", "toLocaleString", "localeCompare", "getTime", "valueOf", "replaceAll", "size",
    "length", "isEmpty", "toJSON",
})  # fmt: skip
OF_DATA = _LOOKING.union(
    *(
        [name for name in dir(kind) if name[0] != "_"]
        for kind in (str, bytes, int, float, list, tuple, dict, set)
    )
)
"""Methods of the values that tools give, and of texts, lists and objects: they look, and call no tool."""

OPTIONS = frozenset({
    "key", "reverse", "default", "sep", "maxsplit", "encoding", "errors", "keepends", "timespec",
    "timeout", "indent", "orient", "by", "ascending", "inplace", "exclude", "exclude_none", "include",
})  # fmt: skip
"""The names of such methods' own arguments; an argument of another name is a tool's."""

PACKAGES = frozenset({
    "aiohttp", "android", "anthropic", "asyncpg", "attr", "attrs", "boto3", "botocore", "bs4", "celery",
    "click", "com", "cv2", "datasets", "dateutil", "distutils", "django", "docx", "dotenv", "fastapi",
    "flask", "fpdf", "geopy", "google", "googleapiclient", "googlemaps", "gradio", "httpx", "huggingface_hub",
    "IPython", "java", "javax", "jinja2", "joblib", "jwt", "kotlin", "langchain", "langchain_community",
    "langchain_core", "langchain_openai", "langgraph", "litellm", "llama_index", "loguru", "lxml",
    "markdown", "matplotlib", "mpl_toolkits", "msgpack", "networkx", "nltk", "numba", "numpy", "openai",
    "openpyxl", "org", "pandas", "paramiko", "PIL", "pint", "plotly", "polars", "psutil", "psycopg2",
    "pyarrow", "pydantic", "pygame", "pymongo", "pymysql", "PyPDF2", "pypdf", "pytest", "pytz", "redis",
    "regex", "reportlab", "requests", "rich", "scipy", "seaborn", "selenium", "setuptools", "six",
    "skimage", "sklearn", "smolagents", "spacy", "sqlalchemy", "starlette", "statsmodels", "streamlit",
    "sympy", "tabulate", "tenacity", "tensorflow", "tiktoken", "tkinter", "torch", "torchvision", "tqdm",
    "transformers", "typer", "typing_extensions", "ujson", "unittest", "urllib3", "uvicorn", "webdriver",
    "websockets", "yaml", "yfinance",
})  # fmt: skip
"""Packages that programs use beside the standard library, and roots of Java's: what they offer is no tool."""


def is_library(module: str) -> bool:
    """Whether a module is Python's own or a known package: what is imported from any other may be a tool.

    >>> is_library("os.path"), is_library("numpy"), is_library("tools"), is_library("")
    (True, True, False, False)
    """
    root = module.split(".", 1)[0]
    return root in PACKAGES or root in sys.stdlib_module_names
