"""Sixty runs of agents: half of them right, half with one planted fault."""

from __future__ import annotations

from typing import Any

from tests.traces_forms import Span

_Turn = list[Any] | tuple[Any, ...]


def played(*turns: _Turn, final: str, heard: str | None = None) -> list[Span]:
    """A run in which a model asks for tools turn by turn: ``(tool, arguments, answer, error)``, or a list.

    A call without an answer never ran.
    """
    spans: list[Span] = []
    at = 0.0
    told: tuple[str, ...] = ()
    for turn, given in enumerate(turns):
        calls = given if isinstance(given, list) else [given]
        asked = tuple((f"call_{turn}_{n}", call[0], call[1]) for n, call in enumerate(calls))
        spans.append(Span(f"m{turn}", "root", "model", "chat m", at, at + 400, calls=asked, heard=told))
        at, told = at + 401, ()
        for n, call in enumerate(calls):
            if len(call) == 2:
                told = (heard,) if heard else ()
                continue
            answer, error = call[2], call[3] if len(call) > 3 else None
            spans.append(
                Span(
                    f"t{turn}_{n}", "root", "tool", call[0], at + n / 10, at + 90 + n, call[1], answer, error
                )
            )
            told += (str(error or answer),)
        at += 95
    spans.append(Span("last", "root", "model", "chat m", at, at + 500, words=final, heard=told))
    return [*spans, Span("root", None, "agent", "agent", -1, at + 501)]


def helped(question: str, *inner: _Turn, answer: str) -> list[Span]:
    """A run in which an agent asks two others, each of which makes the same calls."""
    spans = [
        Span(
            "m",
            "root",
            "model",
            "chat m",
            0,
            300,
            calls=(("a", "ask_anna", {"q": question}), ("b", "ask_ben", {"q": question})),
        )
    ]
    for n, who in enumerate(("ask_anna", "ask_ben")):
        spans.append(Span(who, "root", "tool", who, 301, 2000 + n, {"q": question}, f"{who} says {answer}"))
        spans.append(Span(f"{who} agent", who, "agent", who, 302, 1999))
        for at, call in enumerate(inner):
            asked = ((f"{who}{at}", call[0], call[1]),)
            spans.append(
                Span(
                    f"{who} m{at}",
                    f"{who} agent",
                    "model",
                    "chat m",
                    310 + 300 * at,
                    500 + 300 * at,
                    calls=asked,
                )
            )
            spans.append(
                Span(
                    f"{who} t{at}",
                    f"{who} agent",
                    "tool",
                    call[0],
                    501 + 300 * at,
                    590 + 300 * at,
                    call[1],
                    call[2],
                )
            )
        spans.append(
            Span(f"{who} end", f"{who} agent", "model", "chat m", 1700, 1990, words=f"{who} says {answer}")
        )
    return [
        *spans,
        Span("end", "root", "model", "chat m", 2010, 2400, words=f"Both say {answer}."),
        Span("root", None, "agent", "agent", -1, 2401),
    ]


WEATHER = ("get_weather", {"city": "Oslo"}, {"temp": 4, "sky": "snow"})
USER = ("find_user", {"mail": "eve@example.org"}, {"id": 4411, "name": "Eve Holm", "plan": "gold"})
INVOICES = ("query", {"sql": "SELECT id, total FROM invoices WHERE paid = 0"}, [[81, 120.5], [84, 75.0]])
DOCS = ("search_docs", {"q": "reset password"}, {"hits": [{"doc": 52, "title": "Resetting a password"}]})
PAGE = (
    "open_doc",
    {"doc": 52},
    "To reset a password, open the account page, choose Security and follow the link in the mail.",
)
CUT_OFF = "The service is down; I could not finish."


def failing(name: str, given: Any, error: str) -> tuple[Any, ...]:
    return (name, given, None, error)


RIGHT: dict[str, list[Span]] = {
    "one call": played(WEATHER, final="4 degrees and snow in Oslo."),
    "two at once": played(
        [WEATHER, ("get_weather", {"city": "Bergen"}, {"temp": 4, "sky": "rain"})],
        final="4 degrees in both; snow in Oslo, rain in Bergen.",
    ),
    "chain": played(
        USER,
        ("list_orders", {"user": 4411}, [{"order": 901, "sum": 33}]),
        final="Eve has order 901 of 33 euros.",
    ),
    "waiting for a job": played(
        ("start_build", {"ref": "main"}, {"build": 77}),
        *[("build_status", {"build": 77}, {"state": "running"})] * 4,
        ("build_status", {"build": 77}, {"state": "passed", "minutes": 6}),
        final="Build 77 passed in 6 minutes.",
    ),
    "waiting with sleep": played(
        ("start_build", {"ref": "dev"}, {"build": 78}),
        *[("build_status", {"build": 78}, {"state": "queued"}), ("sleep", {"seconds": 5}, "Waited 5 seconds")]
        * 3,
        ("build_status", {"build": 78}, {"state": "passed"}),
        final="Build 78 passed.",
    ),
    "pages by cursor": played(
        *[("list_files", {"cursor": at}, {"files": [f"a{at}.csv"], "next": at + 1}) for at in range(4)],
        final="a0.csv, a1.csv, a2.csv, a3.csv",
    ),
    "pages to the end": played(
        ("list_files", {"page": 1}, {"files": ["x.csv"]}),
        ("list_files", {"page": 2}, {"files": []}),
        final="Only x.csv.",
    ),
    "timeout, then fine": played(
        failing("fetch", {"url": "https://example.org/a"}, "TimeoutError: timed out after 30 s"),
        ("fetch", {"url": "https://example.org/a"}, "Opening hours: 9 to 17"),
        final="It is open from 9 to 17.",
    ),
    "rate limit twice": played(
        failing("translate", {"text": "hei"}, "429 Too Many Requests"),
        failing("translate", {"text": "hei"}, "429 Too Many Requests"),
        ("translate", {"text": "hei"}, "hello"),
        final="hello",
    ),
    "service down": played(
        failing("fetch", {"url": "https://example.org/b"}, "503 Service Unavailable"),
        failing("fetch", {"url": "https://example.org/b"}, "503 Service Unavailable"),
        final=CUT_OFF,
    ),
    "arguments mended": played(
        failing("book", {"date": "tomorrow"}, "ValueError: date must be YYYY-MM-DD"),
        ("book", {"date": "2026-11-24"}, {"booking": "B-19"}),
        final="Booked: B-19.",
    ),
    "reading back": played(
        ("read_file", {"path": "n.txt"}, "alpha"),
        ("write_file", {"path": "n.txt", "text": "beta"}, "ok"),
        ("read_file", {"path": "n.txt"}, "beta"),
        final="n.txt holds beta now.",
    ),
    "tests mended": played(
        ("run_tests", {}, {"failed": 2}),
        ("edit", {"path": "a.py", "text": "x = 1"}, "edited"),
        ("run_tests", {}, {"failed": 0}),
        final="All pass, none of the 2 fails now: failed 0.",
    ),
    "tests still failing": played(
        *[
            ("run_tests", {}, {"failed": 2}),
            ("edit", {"path": "a.py", "text": "x = 1"}, "edited"),
            ("run_tests", {}, {"failed": 2}),
            ("edit", {"path": "a.py", "text": "x = 2"}, "edited"),
            ("run_tests", {}, {"failed": 2}),
        ],
        final="Still 2 failed.",
    ),
    "dice": played(
        *[("roll", {"sides": 20}, {"value": value}) for value in (7, 20, 3)], final="7, 20 and 3."
    ),
    "the same number twice": played(*[("roll", {"sides": 6}, {"value": 5})] * 2, final="Two fives: 5 and 5."),
    "scrolling": played(*[("scroll", {"by": 600}, "ok")] * 5, final="That is the end of the page."),
    "keys": played(
        *[("press", {"key": "Tab"}, None)] * 4, ("press", {"key": "Enter"}, None), final="The form is sent."
    ),
    "cart": played(
        *[("add_to_cart", {"sku": "T-9"}, {"items": at}) for at in (1, 2)],
        final="2 items of T-9 are in the cart.",
    ),
    "mails": played(
        [("send_mail", {"to": f"{who}@example.org", "text": "hi"}, "sent") for who in "abc"],
        final="Sent to three.",
    ),
    "balance before and after": played(
        ("balance", {"account": 3}, {"euros": 250}),
        ("transfer", {"from": 3, "to": 4, "euros": 0}, "done"),
        ("balance", {"account": 3}, {"euros": 250}),
        final="It is 250 euros as before.",
    ),
    "other words, same hits": played(
        DOCS,
        ("search_docs", {"q": "forgotten password"}, DOCS[2]),
        PAGE,
        final="Open the account page, choose Security (document 52: Resetting a password).",
    ),
    "two agents ask alike": helped(
        "population", ("search", {"q": "population Oslo"}, "717710"), answer="717710"
    ),
    "two agents, two calls": helped(
        "height",
        ("search", {"q": "Galdhøpiggen"}, "2469 m"),
        ("convert", {"m": 2469}, "8100 ft"),
        answer="8100 ft",
    ),
    "a game": played(
        *[("move", {"to": "north"}, f"You are in cave {at}.") for at in (4, 5, 6)], final="We are in cave 6."
    ),
    "a game that says one sentence": played(
        *[("move", {"to": "north"}, "You see a long corridor.")] * 3, final="Nothing but corridor."
    ),
    "clock": played(*[("now", {}, f"12:0{at}") for at in range(3)], final="It is 12:02."),
    "upload in parts": played(
        *[("upload", {"part": at}, {"received": 65536}) for at in range(4)],
        final="4 parts of 65536 bytes are there.",
    ),
    "health between steps": played(
        ("health", {}, {"status": "up", "load": 0.1}),
        ("deploy", {"tag": "v7"}, "rolled out"),
        ("health", {}, {"status": "up", "load": 0.1}),
        ("deploy", {"tag": "v8"}, "rolled out"),
        ("health", {}, {"status": "up", "load": 0.1}),
        final="v8 is up, load 0.1.",
    ),
    "locked, then another way": played(
        failing("save", {"row": 1}, "database is locked"),
        failing("save", {"row": 1}, "database is locked"),
        ("queue_save", {"row": 1}, {"ticket": 31}),
        final="Queued as ticket 31.",
    ),
}
"""Runs in which nothing is wrong."""


def _without(spans: list[Span], name: str) -> list[Span]:
    return [span for span in spans if span.id != name]


def _open(spans: list[Span], name: str) -> list[Span]:
    return [span._replace(end=None) if span.id == name else span for span in spans]


LANGGRAPH = "Error: get_wether is not a valid tool, try one of [get_weather]."
PYDANTIC = "Unknown tool name: 'find_usr'. Available tools: 'find_user'"

WRONG: dict[str, tuple[list[Span], str]] = {
    "the same again": (played(WEATHER, WEATHER, final="4 degrees, snow."), "trace.repeated_call"),
    "in another order of keys": (
        played(
            ("rate", {"base": "EUR", "quote": "NOK"}, {"rate": 11.72}),
            ("rate", {"quote": "NOK", "base": "EUR"}, {"rate": 11.72}),
            final="11.72",
        ),
        "trace.repeated_call",
    ),
    "twice at once": (played([USER, USER], final="Eve Holm, 4411, gold"), "trace.repeated_call"),
    "a file read twice": (
        played(
            *[("read_file", {"path": "notes/todo.md"}, "1. call Jan at 17:30\n2. buy 3 stamps")] * 2,
            final="Call Jan at 17:30, buy 3 stamps.",
        ),
        "trace.repeated_call",
    ),
    "a query twice": (
        played(INVOICES, INVOICES, final="81 (120.5) and 84 (75.0) are unpaid."),
        "trace.repeated_call",
    ),
    "a page twice": (
        played(DOCS, PAGE, PAGE, final="Open the account page, choose Security (52, Resetting a password)."),
        "trace.repeated_call",
    ),
    "again after another": (
        played(WEATHER, USER, WEATHER, final="4, snow; Eve Holm 4411 gold"),
        "trace.repeated_call",
    ),
    "a search three times": (played(*[DOCS] * 3, final="52: Resetting a password"), "trace.loop"),
    "search and open": (
        played(*[DOCS, PAGE] * 3, final="Choose Security (52, Resetting a password), account page."),
        "trace.loop",
    ),
    "three in a circle": (
        played(*[USER, INVOICES, WEATHER] * 3, final="Eve 4411, 81, 84, 4 degrees"),
        "trace.loop",
    ),
    "a folder five times": (
        played(*[("list_dir", {"path": "src"}, ["main.py", "util.py"])] * 5, final="main.py and util.py"),
        "trace.loop",
    ),
    "a job that has failed": (
        played(
            *[("build_status", {"build": 9}, {"state": "failed", "reason": "disk full"})] * 5,
            final="It failed: disk full.",
        ),
        "trace.loop",
    ),
    "a search in new words each time": (
        played(
            *[
                ("search_docs", {"q": f"reset password {word}"}, DOCS[2])
                for word in ("how", "help", "please", "now")
            ],
            final="52: Resetting a password",
        ),
        "trace.loop",
    ),
    "asking the same expert": (
        played(
            *[
                (
                    "ask_expert",
                    {"q": "Which form do I need?"},
                    "You need form 1040-X, and a copy of last year's return.",
                )
            ]
            * 4,
            final="Form 1040-X and a copy of the return.",
        ),
        "trace.loop",
    ),
    "no such key": (
        played(*[failing("get", {"id": "zz"}, "KeyError: 'zz'")] * 2, final="There is none."),
        "trace.failed_retry",
    ),
    "wrong date": (
        played(
            *[failing("book", {"date": "tomorrow"}, "ValueError: date must be YYYY-MM-DD")] * 2,
            final="I cannot book.",
        ),
        "trace.failed_retry",
    ),
    "not found": (
        played(
            *[failing("fetch", {"url": "https://example.org/x"}, "404 Not Found")] * 2,
            final="The page is gone.",
        ),
        "trace.failed_retry",
    ),
    "not allowed": (
        played(*[failing("delete", {"id": 5}, "PermissionError: not allowed")] * 3, final="I may not."),
        "trace.failed_retry",
    ),
    "not allowed, after another": (
        played(
            failing("delete", {"id": 5}, "401 Unauthorized"),
            WEATHER,
            failing("delete", {"id": 5}, "401 Unauthorized"),
            final="I may not; 4, snow.",
        ),
        "trace.failed_retry",
    ),
    "wrong SQL": (
        played(
            *[failing("query", {"sql": "SELEC 1"}, 'syntax error at or near "SELEC"')] * 2,
            final="It does not work.",
        ),
        "trace.failed_retry",
    ),
    "a misspelt tool": (
        played(("get_wether", {"city": "Oslo"}), WEATHER, final="4 degrees, snow.", heard=LANGGRAPH),
        "trace.not_run",
    ),
    "a misspelt tool, other words": (
        played(("find_usr", {"mail": "eve@example.org"}), USER, final="Eve Holm, 4411, gold", heard=PYDANTIC),
        "trace.not_run",
    ),
    "a tool of another agent": (
        played(("pay", {"euros": 3}), WEATHER, final="4, snow", heard="Tool pay not found in agent helper"),
        "trace.not_run",
    ),
    "a tool that nobody ran": (played(("pay", {"euros": 3}), WEATHER, final="4, snow"), "trace.not_run"),
    "a span is missing": (
        _without(helped("population", ("search", {"q": "p"}, "717710"), answer="717710"), "ask_ben agent"),
        "trace.incomplete",
    ),
    "a tool did not end": (
        _open(played(WEATHER, USER, final="4, snow, Eve Holm 4411 gold"), "t1_0"),
        "trace.incomplete",
    ),
    "exported twice": (
        (lambda spans: [*spans, spans[1]])(played(WEATHER, final="4 degrees, snow.")),
        "trace.incomplete",
    ),
    "an answer unread": (
        played(
            WEATHER,
            ("get_news", {"topic": "sport"}, {"headline": "Lions win the final"}),
            final="4 degrees, snow.",
        ),
        "trace.unused_result",
    ),
    "the first answer unread": (
        played(
            ("list_orders", {"user": 4411}, [{"order": 901, "sum": 33.4}]), WEATHER, final="4 degrees, snow."
        ),
        "trace.unused_result",
    ),
    "two answers unread": (played([USER, INVOICES], final="I cannot say."), "trace.unused_result"),
}
"""Runs with one fault, and the code of the finding that tells it."""
