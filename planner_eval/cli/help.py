"""Commands as the user meets them: help that fits a screen, options of every command, and options in groups.

``--help`` shows the options that most people need and names the rest by section; ``--help-all`` explains
each, with examples. What many commands take and few users need stands once, in the help of ``planeval``
itself, and may be typed before the command as well as after it. Options that say one kind of thing are
typed as one: ``--field text=answer --field gold.id=task``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import click

from planner_eval.base.errors import InputError
from planner_eval.base.text import did_you_mean
from planner_eval.cli.terminal import color_option

SHARED: dict[str, tuple[str, str, str]] = {
    "--color": (
        "Every command",
        "[auto|always|never]",
        "Coloured text: on a terminal (auto), always or never.",
    ),
    "--quiet": ("Every command", "", "Show no progress."),
    "--wrappers": ("Reading plans", "FILE", "Notations of your own, as rows of a TOML file."),
    "--turn": ("Reading plans", "first|last|N", "Read this turn of a conversation (default: all)."),
    "--infer": ("Reading plans", "", "Infer edges where an argument repeats a value of an earlier result."),
    "--compute": ("Reading plans", "[arithmetic]", "Compute arithmetic expressions."),
    "--catalog-format": ("Reading plans", "FORMAT", "A catalog's format (default: detected)."),
    "--cache": ("Data sets", "DIR", "The cache folder of data sets."),
    "--source": ("Data sets", "DIR", "Read data sets from DIR instead of the cache folder."),
    "--jobs": ("Large inputs", "N", "Worker processes (default: all cores)."),
    "--record-deadline": ("Large inputs", "SECONDS", "Time limit per record; longer is an error."),
    "--part": ("Large inputs", "RECORDS", "Records per batch; results do not depend on it."),
    "--engine": ("Large inputs", "[ray]", "Run on a Ray cluster."),
    "--address": ("Large inputs", "HOST:PORT", "The Ray cluster (default: one on this machine)."),
    "--store": ("Large inputs", "[jsonl|parquet]", "Storage format of a run's rows."),
    "--theme": ("Drawings", "NAME|FILE", "The theme of drawings: a name, or a TOML file."),
    "--deadline": ("Drawings", "SECONDS", "Time limit for the layout of one drawing."),
    "--force": ("Drawings", "", "Draw every call or tool, however many there are."),
    "--isolation": ("Running tools", "LEVEL", "Isolation of tools: strict, process or inline."),
}
"""Options that many commands take: their section in the help of ``planeval``, their value, what they do."""


def _flags_of(keys: str) -> dict[str, str]:
    """Keys and the options that they stand for, where these are called alike."""
    return {key: f"--{key.replace('.', '-')}" for key in keys.split()}


GROUPS: dict[str, dict[str, str]] = {
    "--field": {
        "id": "--id-field",
        "text": "--text-field",
        "gold.id": "--gold-id-field",
        "gold.text": "--gold-text-field",
        "query": "--query",
        "answer": "--answer",
        "verdict": "--verdict-field",
    },
    "--from": {"gold": "--gold-from"},
    "--plot": {"shapes": "--shapes", "tools": "--tool-graph", "apps": "--app-graph"},
    "--run": _flags_of(
        "judge.url judge.cache replay tools seed seeds figure columns prices concurrency backoff "
        "distractors budget tries try-deadline model-url model-cache allow-read prompts "
        "prompts-for demos demo-by near-duplicates closeness list-form explain-references today "
        "history max-steps category server max-calls router-model data-cache retries timeout "
        "deadline server-timeout attempts quality language"
    ),
    "--want": _flags_of("calls depth width components reuse pattern scope single join distinct offer"),
}
"""Options that are typed as one, by their keys: ``--field text=NAME`` is what ``--text-field NAME`` was."""

_FIELD_WORDS = {"text": "text (the plan)", "answer": "answer (the expected result of the plan)"}

_GROUP_HELP = {
    "--run": ("KEY=VALUE", "A setting of the run, e.g. {first}; --help-all lists the keys."),
    "--field": (
        "KEY=NAME",
        "Say which field of the records holds what; keys: {fields}{gold}. NAME may be a path, such as a.b.0.",
    ),
    "--want": (
        "KEY=VALUE",
        "What is wanted of a plan, e.g. calls=2..4 or pattern=chain; --help-all lists the keys.",
    ),
}

FIRST = {
    "score": "--metric --by --fail-under --causes --policy --benchmark --field --from --format --output",
    "diff": "--policy --patch --structure --all --only --id --field --from --format --output",
    "compare": "--gold --metric --by --fail-if-worse --policy --benchmark --field --from --format --output",
    "report": "--gold --causes --policy --by --title --limit --field --from --output",
    "predict": "--model --url --pipeline --catalog --tools --shots --limit --set --dry-run --output",
    "execute": "--tools --initial --trace --state --record --id --field --from --format --output",
    "data make": "--catalog --tools --preset --want -n --question --model --like --to --output",
    "data check": "--select --ignore --confidence --tools --catalog --baseline --field --format --output",
    "shrink": "--code --while --differs --policy --id --to --field --from --output",
    "stats": "--each --plot --field --from --format --output",
    "suggest": "--catalog --patch --model --most --least --field --from --format --output",
    "table": "--metric --layout --benchmark --plot --figure --common --format --output",
    "parse": "--repair --grammar --catalog --field --from --format --output",
    "check": "--catalog --level --ignore --field --from --format --output",
    "convert": "--to --list --patch --loss --repair --catalog --field --from --output",
}
"""The options that most people need, of commands that have many: what ``--help`` explains."""

SECTIONS = {
    "Input": "--field --from --gold --pair --id --limit --examples --runs --against "
    "--across --samples --catalog --tools --state --initial --facts --benchmark --source --strict --repair "
    "--grammar --preset --like --want -n --fill --tool --dialect --mirror",
    "Comparison": "--policy --metric --by --cluster --official --set --judge --structure --edit-distance "
    "--execute --select --ignore --confidence --level --common --mistaken --code --while --differs --figure",
    "Models": "--model --url --pipeline --shots --distractors --budget --constrain --model-url --model-cache "
    "--prices --repeat --question --offer --replay",
    "Run": "--timeout --deadline --retries --concurrency --seed --seeds --backoff --allow-read --tries "
    "--try-deadline --dry-run --isolation --cache --record --baseline",
}
"""Which section of the help an option stands in; of Output are all others."""

EXAMPLES = {
    "diff": (
        "planeval diff data/demo/pred.json data/demo/gold.json",
        "planeval diff data/demo/pred.jsonl data/demo/gold.jsonl --only failures",
        "planeval diff data/demo/pred.json data/demo/gold.json --format svg -o out/diff.svg",
    ),
    "score": (
        "planeval score data/demo/pred.jsonl data/demo/gold.jsonl --metric all --causes",
        "planeval score data/demo/pred.jsonl data/demo/gold.jsonl --fail-under calls=0.5",
        "planeval score data/samples/answers/nestful.jsonl data/samples/nestful --benchmark nestful",
    ),
    "report": (
        "planeval report data/demo/pred.jsonl --gold data/demo/gold.jsonl --causes -o out/report.html",
    ),
    "parse": ("planeval parse data/demo/pred.json", "planeval parse data/demo/pred.jsonl --format json"),
    "convert": ("planeval convert data/demo/gold.json --to nestful",),
    "render": ("planeval render data/demo/gold.json --format mermaid",),
    "stats": ("planeval stats data/demo/gold.jsonl --plot shapes=shapes.svg",),
    "check": ("planeval check data/demo/pred.json --catalog data/catalogs/rates.json",),
    "execute": ("planeval execute data/samples/nestful/v2/nestful_data.jsonl --tools nestful",),
    "compare": ("planeval compare data/demo/pred.jsonl data/demo/tuned.jsonl --gold data/demo/gold.jsonl",),
}
"""Commands that can be typed in a checkout, for ``--help-all``."""

_HARMLESS = ("--color", "--quiet", "--jobs")
"""Options of every command that may be typed before one that has no use for them."""

_MAY_BE_EMPTY = ("--query",)
"""Options whose empty value means that there is none."""

_SWITCHES = {"yes": True, "true": True, "no": False, "false": False}

_HELP_ALL = "planeval.help-all"
_TYPED_EARLY = "planeval.shared"


class Command(click.Command):
    """A command whose help fits a screen, and whose options may be typed in groups."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(color_option())
        self.params.append(_help_all_option())
        options = self._flags()
        first = " ".join(flags for path, flags in FIRST.items() if path.split()[-1] == self.name).split()
        self.keys: dict[str, dict[str, str]] = {}
        for group, members in GROUPS.items():
            own = {key: flag for key, flag in members.items() if flag in options and flag not in first}
            if group in options or (group in _GROUP_HELP and len(own) > (group == "--run")):
                self.keys[group] = own
        keyed = {flag for members in self.keys.values() for flag in members.values()}
        for flag in SHARED.keys() & options.keys() - keyed:
            if flag != "--cache" or options[flag].metavar == "DIR":  # elsewhere it keeps answers of models
                options[flag].hidden = True
        self.typed = {
            flag: f"{group} {key}" for group, members in self.keys.items() for key, flag in members.items()
        }
        self.made = {group for group in self.keys if group not in options}
        for group, members in self.keys.items():
            for flag in members.values():
                options[flag].hidden = True
            if group in self.made:
                metavar, text = _GROUP_HELP[group]
                gold = ", gold.id, gold.text" if "gold.text" in members else ""
                fields = (_FIELD_WORDS.get(key, key) for key in members if not key.startswith("gold."))
                text = text.format(gold=gold, first=f"{next(iter(members))}=…", fields=", ".join(fields))
                self.params.append(
                    click.Option([group], metavar=metavar, multiple=True, expose_value=False, help=text)
                )
        for option in options.values():
            option.help = option.help and self.name_typed_options(option.help)

    def _flags(self) -> dict[str, click.Option]:
        """The options by their flags."""
        return {flag: p for p in self.params if isinstance(p, click.Option) for flag in p.opts}

    def name_typed_options(self, text: str) -> str:
        """A text with options as this command takes them: ``--run tools=SPEC`` for ``--tools SPEC``."""

        def named(match: re.Match[str]) -> str:
            typed = self.typed.get(match[1])
            return match[0] if typed is None else typed + match[2].replace(" ", "=", 1)

        return re.sub(r"(?<![\w-])(--[a-z][a-z-]*)((?: [A-Z]+\b)?)", named, text)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error names options as this command takes them."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if type(error) is not click.UsageError:
                raise  # click puts its message together itself
            raise click.UsageError(self.name_typed_options(error.message), error.ctx) from None
        except InputError as error:
            error.args = (self.name_typed_options(str(error)), *error.args[1:])
            raise

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what was typed: options of every command typed before it, and options in groups."""
        options = self._flags()
        own = options.keys() - {flag for members in self.keys.values() for flag in members.values()}
        if "--cache" in own and options["--cache"].metavar != "DIR":
            own.discard("--cache")  # here it keeps answers of models
        early = []
        for words in ctx.meta.get(_TYPED_EARLY, ()):
            if words[0] in own:
                early += words
            elif words[0] not in _HARMLESS and not ctx.resilient_parsing:
                raise click.UsageError(
                    f"{words[0]} before the command has no effect on {ctx.command_path}", ctx
                )
        try:
            return super().parse_args(ctx, [*early, *self._expand(ctx, args)])
        except click.BadParameter as error:
            flag = max(error.param.opts, key=len, default="") if error.param is not None else ""
            error.param_hint = ctx.meta.get(f"planeval.typed {flag}", error.param_hint)
            raise

    def _expand(self, ctx: click.Context, args: Sequence[str]) -> Iterator[str]:
        """The words with each group's option replaced by the one that its key stands for."""
        words, options = iter(args), self._flags()
        switched: dict[str, bool] = {}  # of a key that is a switch the last word counts
        for word in words:
            group, sign, value = word.partition("=")
            members = self.keys.get(group)
            if word == "--":
                words = chain([word], words)
                break
            if not members:
                yield word
                continue
            typed = [word] if sign else [group, *islice(words, 1)]
            value = value if sign else typed[-1]
            key, _, value_of_key = value.partition("=")
            flag = members.get(key.strip())
            if flag is None:
                if group in self.made and (sign or typed[1:]):
                    hint = did_you_mean(key, list(members), lead="; ")
                    expected = f"expected KEY=VALUE with {', '.join(members)}{hint}"
                    raise click.UsageError(f"{group} {value}: {expected}", ctx)
                yield from typed
                continue
            ctx.meta[f"planeval.typed {flag}"] = f"{group} {key.strip()}"  # for messages
            if options[flag].is_flag:
                switch = value_of_key or "yes"
                if switch not in _SWITCHES:
                    raise click.UsageError(f"{group} {value}: expected {key}, {key}=yes or {key}=no", ctx)
                switched[flag] = _SWITCHES[switch]
            elif not value_of_key and flag not in _MAY_BE_EMPTY:
                raise click.UsageError(f"{group} {value}: expected {key}=VALUE", ctx)
            else:
                yield f"{flag}={value_of_key}"
        yield from (flag for flag, wanted in switched.items() if wanted)
        yield from words

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does; in short its first paragraph and its exit codes."""
        text, whole = self.help or "", ctx.meta.get(_HELP_ALL, False) or self._path(ctx) not in FIRST
        if not whole:
            codes = text.rpartition("Exit code")
            end = f"\n\n{' '.join((codes[1] + codes[2]).split())}" if codes[1] else ""
            text = " ".join(text.partition("\n\n")[0].split()) + end
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(inspect.cleandoc(text))

    def _path(self, ctx: click.Context) -> str:
        """The command's name below ``planeval``, such as ``data check``."""
        return ctx.command_path.partition(" ")[2]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: those most people need, and the others' names; or all, by section."""
        records = {
            max(p.opts, key=len): record
            for p in self.get_params(ctx)
            if isinstance(p, click.Option) and (record := p.get_help_record(ctx)) is not None
        }
        path = self._path(ctx)
        everything = ctx.meta.get(_HELP_ALL, False)
        first = FIRST.get(path, "").split()
        main = [records[flag] for flag in first or records if flag in records]
        with formatter.section("Main options" if first else "Options"):
            formatter.write_dl(main)
        rest = _by_section(flag for flag in records if first and flag not in (*first, "--help"))
        if everything:
            for section, flags in rest:
                with formatter.section(section):
                    formatter.write_dl([records[flag] for flag in flags])
            self._format_keys(formatter)
            if path in EXAMPLES:
                with formatter.section("Examples"):
                    for line in EXAMPLES[path]:
                        formatter.write(f"  {line}\n")
        elif rest:
            with formatter.section("More (see --help-all)"):
                formatter.write_dl([(section, " ".join(flags)) for section, flags in rest])
        formatter.write_paragraph()
        formatter.write_text("Common options, such as --color and --jobs: see planeval --help.")

    def _format_keys(self, formatter: click.HelpFormatter) -> None:
        """Write what the keys of each group's option say."""
        options = self._flags()
        for group, members in self.keys.items():
            if members:
                with formatter.section(f"Keys of {group}"):
                    formatter.write_dl([(key, options[flag].help or "") for key, flag in members.items()])


class Group(click.Group):
    """A command with commands below it, each of which is a `Command`."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(_help_all_option())


def _help_all_option() -> click.Option:
    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        hidden=True,
        expose_value=False,
        callback=_show_all,
        help="Show every option, with examples.",
    )


def _show_all(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Print all of a command's help, and end."""
    if wanted and not context.resilient_parsing:
        context.meta[_HELP_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


def _by_section(flags: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Options by their sections, in the order of `SECTIONS`; all others last."""
    homes = {flag: section for section, listed in SECTIONS.items() for flag in listed.split()}
    found: dict[str, list[str]] = {section: [] for section in (*SECTIONS, "Output")}
    for flag in flags:
        found[homes.get(flag, "Output")].append(flag)
    return [(section, listed) for section, listed in found.items() if listed]


def shared_options(command: click.Group) -> click.Group:
    """The group ``planeval`` with the options of every command, which may be typed before its name."""

    def keep(context: click.Context, option: click.Parameter, value: Any) -> None:
        given = [(option.opts[0],)] if value is True else [(option.opts[0], text) for text in value or ()]
        context.meta.setdefault(_TYPED_EARLY, []).extend(given)

    for flag, (_, metavar, text) in SHARED.items():
        command.params.append(
            click.Option(
                [flag],
                metavar=metavar or None,
                is_flag=not metavar,
                multiple=bool(metavar),  # of those that may be given again none is lost
                expose_value=False,
                callback=keep,
                help=text,
            )
        )
    command.params.append(_help_all_option())
    return command


def format_shared_options(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of ``planeval``, and of every command their names by section, or all."""
    own: list[tuple[str, str]] = []
    sections: dict[str, list[tuple[str, str]]] = {}
    for param in ctx.command.get_params(ctx):
        if record := param.get_help_record(ctx):
            flag = param.opts[0]
            section = sections.setdefault(SHARED[flag][0], []) if flag in SHARED else own
            section.append((flag, record[1]) if flag in SHARED else record)
    with formatter.section("Options"):
        formatter.write_dl(own)
    if ctx.meta.get(_HELP_ALL, False):
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
    else:
        with formatter.section("Common options (see --help-all)"):
            names = [(title, " ".join(flag for flag, _ in records)) for title, records in sections.items()]
            formatter.write_dl(names)
