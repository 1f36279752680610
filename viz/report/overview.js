// The overview: figures with intervals, states, causes, tools taken for others, breakdowns.

const MOST_ROWS = 7;

/** A place on an axis from 0 to 1 as a share of its width. */
const share = (value, top) => `${(100 * Math.min(Math.max(value / top, 0), 1)).toFixed(2)}%`;

/** A dot with its interval on an axis; numbers stand beside it. */
function intervalMark(figures, top, base = 0) {
  const at = value => share(value - base, top - base),
    axis = svg("svg", { class: "interval", "aria-hidden": "true", width: "100%", height: 10 * figures.length + 6 });
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    const x = `${100 * tick}%`;
    axis.append(svg("line", { class: "tick", x1: x, x2: x, y1: 0, y2: "100%" }));
  }
  if (base < 0) axis.append(svg("line", { class: "zero", x1: at(0), x2: at(0), y1: 0, y2: "100%" }));
  figures.forEach((one, row) => {
    const y = 8 + 10 * row;
    if (typeof one.low === "number" && typeof one.high === "number")
      axis.append(svg("line", { class: `span run-${row}`, x1: at(one.low), x2: at(one.high), y1: y, y2: y }));
    if (typeof one.value === "number")
      axis.append(svg("circle", { class: `dot run-${row}`, cx: at(one.value), cy: y, r: 3.5 }));
  });
  return axis;
}

const axisHead = (...ends) =>
  el(
    "th",
    { scope: "col", class: "axis-head" },
    el(
      "span",
      null,
      ends.map(text => el("span", { text })),
    ),
  );
const intervalWords = one => (typeof one.low === "number" ? `${one.low.toFixed(3)} … ${one.high.toFixed(3)}` : "");

const figureNames = () => [...new Set(head.runs.flatMap(run => (run.figures || []).map(one => one.name)))];

function figuresTable() {
  const names = figureNames();
  if (!names.length) return null;
  const values = head.runs.flatMap((_, at) => [
    [two ? LETTER[at] : "value", "number"],
    ["95 %", "number"],
  ]);
  const heads = [["figure"], axisHead("0", "1"), ...values, ["precision / recall", "number pr"], ["n", "number"]];
  return card("Figures", "", table("figures", heads, names.map(figureRow)));
}

/** A figure's name, which breaks between its words alone, and a mark where less of it is better. */
const figureName = (name, lower) => [
  el("bdi", { dir: "auto", class: "figure", title: meanings.figures[name] }, visible(name).split(/(?<=_)/).flatMap((word, at) => (at ? [el("wbr"), word] : [word]))),
  lower && el("span", { class: "lower", title: "less is better", role: "img", "aria-label": "less is better", text: "↓" }),
];

function figureRow(name) {
  const found = head.runs.map(run => (run.figures || []).find(one => one.name === name) || {});
  const top = Math.max(1, ...found.flatMap(one => [one.value || 0, one.high || 0]));
  return el(
    "tr",
    null,
    rowHead(figureName(name, found.some(one => one.lower))),
    cell("axis", intervalMark(found, top)),
    found.map(one => [cell("number strong", figureText(one.value)), cell("number muted ci", intervalWords(one))]),
    cell("number muted pr", found.map(prWords).filter(Boolean).join(" · ")),
    cell("number muted n", found[0].n === undefined ? "" : count(found[0].n)),
  );
}
const prWords = one =>
  typeof one.precision === "number" ? `${figureText(one.precision)} / ${figureText(one.recall)}` : "";

let cards = 0;
function card(title, kind, ...children) {
  const id = `card-${++cards}`;
  return el("section", { class: `card ${kind || ""}`, "aria-labelledby": id }, el("h2", { id, text: title }), children);
}

/** The states of one run: a bar, and a link a state. */
function statesView(run, at) {
  const given = Object.keys(head.states).filter(name => run.states[name]);
  if (!given.length) return el("p", { class: "muted", text: `There are no ${UNIT}s.` });
  const sum = given.reduce((total, name) => total + run.states[name], 0);
  const words = name => `${count(run.states[name])} ${stateWords(name)}`;
  const parts = given.map(name => el("span", { class: name, title: words(name) }));
  parts.forEach((part, place) => {
    part.style.flexGrow = run.states[given[place]];
  });
  return [
    two && el("h3", { class: "run-name" }, el("b", { class: "letter", text: LETTER[at] }), foreign(run.name)),
    el("div", { class: "bar", role: "img", "aria-label": given.map(words).join(", ") }, parts),
    el(
      "ul",
      { class: "states" },
      given.map(name => el("li", null, stateLink(name, run.states[name], sum, at ? "stateb" : "state"))),
    ),
  ];
}

const stateLink = (name, n, sum, key) =>
  el(
    "a",
    { class: "state", href: addressOf({ [key]: name }), title: head.states[name] },
    el("span", { class: `swatch ${name}` }),
    `${stateWords(name)} `,
    el("b", { text: count(n) }),
    el("span", { class: "muted", text: ` ${percent(n / sum)}` }),
  );
const percent = part => `${rounded(100 * part, part > 0 && part < 0.0995 ? 1 : 0, 100)} %`;

/** Whether a click would show the pairs that a bar counts: a tool in a plan is not a tool that went wrong. */
const showsExactly = ({ change, pairs }) =>
  pairs === undefined || (change && matching({ ...readState(""), view: "pairs", ...change }).found.length === pairs);

/** Bars of pairs that filter when clicked. */
function bars(rows, words) {
  const top = Math.max(1e-9, ...rows.map(row => row.length)),
    shown = rows.slice(0, MOST_ROWS);
  const item = row => {
    const fillBar = el("span", { class: "fill" });
    fillBar.style.width = share(row.length, top);
    const inside = [
      el("span", { class: "name" }, row.label),
      el("span", { class: "number", text: row.words }),
      el("span", { class: "track", "aria-hidden": "true" }, fillBar),
    ];
    const change = showsExactly(row) ? row.change : null;
    return el(
      "li",
      null,
      change
        ? el("a", { class: "bar-row", href: addressOf(change) }, inside)
        : el("span", { class: "bar-row" }, inside),
    );
  };
  const listed = el("ol", { class: "bars", "aria-label": words }, shown.map(item));
  if (rows.length <= MOST_ROWS) return listed;
  const more = el("button", { type: "button", class: "plain more", text: `${count(rows.length - MOST_ROWS)} more` });
  more.addEventListener("click", () => {
    listed.append(...rows.slice(MOST_ROWS, 500).map(item));
    more.remove();
  });
  return [listed, more];
}

const TITLES = { code: "Differences", tool: "Tools", argument: "Arguments", call: "Calls", depth: "Depth" };

/** Of two runs, that what is asked for is asked of one of them. */
const ofRun = run => (two ? { of: RUN_KEYS[run] } : {});

/** What the index counts where causes were not asked for: pairs of a run by difference, tool and argument. */
function countedCauses(run) {
  const { facets, counts } = matching({ ...readState(""), view: "pairs", ...ofRun(run) });
  return ["code", "tool", "argument"].flatMap(kind => {
    const at = facets.findIndex(facet => facet.key === kind);
    return facets[at].names.map((name, i) => ({ kind, name, pairs: counts[at][i] }));
  });
}

/** What shows the pairs that have a cause; null where the page cannot tell them. */
function picked({ picks }, run) {
  if (!Object.keys(picks).length) return null;
  const { state, ...rest } = picks;
  return { ...(state === undefined ? {} : { [run ? "stateb" : "state"]: state }), ...rest, ...ofRun(run) };
}

/** Causes of one run by kind, with what undoing them would gain where that is known. */
function causesView(run, number) {
  const known = Boolean(run.causes),
    rows = run.causes || countedCauses(number);
  const groups = Object.keys(TITLES).map(kind => [
    kind,
    rows.filter(row => row.kind === kind).sort((a, b) => (b.credit ?? 0) - (a.credit ?? 0) || b.pairs - a.pairs),
  ]);
  const said = el("p", {
    class: "muted caption",
    text: known ? "pairs that have it as a cause · what it costs of exact" : `listed ${UNIT}s that have it`,
  });
  return [
    known && run.fixes.length
      ? el(
          "ol",
          { class: "fixes" },
          run.fixes.map(fix => el("li", null, foreign(fix))),
        )
      : null,
    said,
    groups
      .filter(([, found]) => found.length)
      .map(([kind, found]) =>
        el(
          "div",
          { class: "group" },
          el("h3", { text: TITLES[kind] }),
          bars(
            found.map(row => ({
              label: foreign(nameText(row.name), kind === "code" && head.codes[row.name] ? { title: head.codes[row.name] } : {}),
              length: known ? row.credit : row.pairs,
              words: known ? `${count(row.pairs)} · ${row.credit.toFixed(3)}` : count(row.pairs),
              change: known ? picked(row, number) : { [kind]: row.name, ...ofRun(number) },
              pairs: known ? row.pairs : undefined,
            })),
            `${TITLES[kind]}, by pairs`,
          ),
        ),
      ),
  ];
}

function mistakenView(run, number) {
  const tool = name => (name === null ? el("i", { class: "muted", text: "nothing" }) : foreign(nameText(name)));
  return bars(
    (run.mistaken || []).map(([gold, taken, pairs]) => ({
      label: el("span", null, tool(gold), el("span", { class: "muted", text: " → " }), tool(taken)),
      length: pairs,
      words: count(pairs),
      change: (gold ?? taken) ? { tool: gold ?? taken, ...ofRun(number) } : null,
      pairs,
    })),
    "Gold's tool and the tool taken for it, by pairs",
  );
}

/** One field's values with their figures; a click shows the pairs. */
function breakdown({ field, rows }) {
  const known = new Set(rows.flatMap(row => Object.keys(row.figures)));
  const names = [...new Set([...figureNames(), ...known])].filter(name => known.has(name)).slice(0, 4);
  const facet = all.facets.find(one => one.key === `f.${field}`);
  const value = row =>
    facet && facet.names.includes(row.value)
      ? el("a", { href: addressOf({ fields: { [field]: row.value } }) }, foreign(nameText(row.value)))
      : foreign(nameText(row.value));
  const line = row =>
    el(
      "tr",
      null,
      rowHead(value(row)),
      cell("number muted", count(row.n)),
      names.map(name => heat(row.figures[name])),
    );
  return el(
    "div",
    { class: "group" },
    el("h3", null, foreign(field)),
    table(
      "by",
      [["value"], ["n", "number"], ...names.map(name => [foreign(name), "number"])],
      rows.slice(0, 60).map(line),
    ),
    rows.length > 60 && el("p", { class: "muted", text: `${count(rows.length - 60)} more values` }),
  );
}

/** A figure on a ground that is the darker the higher it is. */
function heat(value) {
  const cell = el("td", { class: "number heat", text: figureText(value) });
  if (typeof value === "number") cell.style.setProperty("--part", share(value, 1));
  return cell;
}

const perRun = (title, view, kind) =>
  head.runs.map((run, at) => {
    const shown = [view(run, at)].flat().filter(Boolean);
    return shown.length ? card(two ? `${title}: ${LETTER[at]}` : title, kind, shown) : null;
  });

function madeCard() {
  if (!head.runs.some(run => run.signature || run.answers)) return null;
  return card(
    "Method",
    "",
    el(
      "dl",
      { class: "made" },
      head.runs.flatMap(run => [
        el("dt", null, foreign(run.name)),
        el(
          "dd",
          null,
          run.answers && el("p", null, foreign(run.answers)),
          run.signature && el("p", { class: "signature" }, foreign(run.signature)),
        ),
      ]),
    ),
  );
}

/** Trials, costs and turns of a run: a table each, and what there is to say. */
const besideCards = (run, at) =>
  (run.beside || []).map(({ title, heads, rows, lines }) =>
    card(
      `${title}${two ? `: ${LETTER[at]}` : ""}`,
      "",
      rows.length > 0 && table(
        "further",
        heads.map((name, column) => [foreign(name), column ? "number" : ""]),
        rows.map(row => el("tr", null, row.map((value, column) =>
          column ? cell(typeof value === "number" ? "number" : "number muted", typeof value === "number" ? count(value) : foreign(value ?? "–")) : rowHead(foreign(String(value)))))),
      ),
      lines.length > 0 && el("ul", { class: "notes" }, lines.map(line => el("li", null, foreign(line)))),
    ),
  );

/** States above everything; figures and fields beside what went wrong. */
function makeOverview() {
  const causes = head.runs.some(run => run.causes) ? "Root causes, and what fixing them would gain" : "Differences, tools, arguments";
  const right = [
    ...head.runs.flatMap(tableCards),
    ...head.runs.flatMap(besideCards),
    ...perRun(causes, causesView, "groups"),
    ...perRun("Confused tools", (run, at) => ((run.mistaken || []).length ? mistakenView(run, at) : null)),
    madeCard(),
    (head.notes || []).length
      ? card(
          "Notes",
          "",
          el(
            "ul",
            { class: "notes" },
            head.notes.map(note => el("li", null, foreign(note))),
          ),
        )
      : null,
  ];
  const left = [
    figuresTable(),
    ...head.runs.map(scoresCard),
    ...perRun("By field", run => (run.by || []).filter(one => one.rows.length).map(breakdown), "groups"),
  ];
  byId("overview").replaceChildren(
    card(`Outcome`, "states-card", head.runs.map(statesView)),
    el(
      "div",
      { class: "halves" },
      el("div", { class: "half" }, left.filter(Boolean)),
      el("div", { class: "half columns" }, right.filter(Boolean)),
    ),
  );
}
