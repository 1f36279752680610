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
