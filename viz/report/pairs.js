// The pairs: search, order, filters with their counts, and which pair is open.

const SHOWN_VALUES = 8;
const opened = new Set(["state", "stateb", "who", ...(variants ? ["f.category", "f.error type", "f.error"] : ["code", "tool"])]);
const wholeLists = new Set();
const SORTS = [
  ["", "as in the files"],
  ["id", "by id"],
  ["alike", "fewest calls alike first"],
  ["-alike", "most calls alike first"],
  ["-edits", "most kinds of difference"],
  ["state", "by state"],
];
const SORTS_B = [
  ["alikeb", "fewest calls of B alike first"],
  ["-alikeb", "most calls of B alike first"],
];
let last = null;

function makePairs() {
  pane.node = el("article", { id: "pair", "aria-label": "One pair", tabindex: "-1" });
  new ResizeObserver(([one]) => {
    pane.width = one.contentRect.width || innerWidth;
  }).observe(pane.node);
  const told = [el("span", { id: "found" }), el("span", { id: "deeper", class: "muted" }), el("ul", { id: "chosen", "aria-label": "Filters in force" }), el("p", { id: "unknown", hidden: true })];
  byId("pairs").append(
    el("aside", { id: "facets", "aria-label": "Filters" }),
    el("div", { class: "column" }, controls(), el("div", { class: "found" }, told), makeList()),
    pane.node,
  );
}

/** The search, the order, and on small screens what opens the filters. */
function controls() {
  const search = el("input", {
    id: "find",
    type: "search",
    placeholder: all.n > MOST_SEARCHED ? "ids, tools, differences…" : "ids, tools, differences, texts…",
    "aria-label": "Find pairs by words",
    autocomplete: "off",
    spellcheck: "false",
    on: { input: () => go({ view: "pairs", q: search.value || null }, true) },
  });
  const sorts = variants ? SORTS.filter(([value]) => !value.endsWith("alike")) : two ? [...SORTS.map(([value, text]) => [value, text.replace("calls", "calls of A")]), ...SORTS_B] : SORTS;
  const options = sorts.map(([value, text]) => el("option", { value, text }));
  const sort = el("select", { id: "sort", "aria-label": "Sort" }, options);
  sort.addEventListener("change", () => go({ sort: sort.value || null }));
  const more = { type: "button", id: "filters", class: "plain", "aria-expanded": "false", "aria-controls": "facets" };
  return el(
    "div",
    { class: "controls" },
    search,
    sort,
    el("button", { ...more, text: "filters", on: { click: toggleFilters } }),
  );
}

function toggleFilters() {
  const shown = byId("pairs").classList.toggle("filtering");
  byId("filters").setAttribute("aria-expanded", String(shown));
}

/** One facet: its values with the pairs that each would leave, the chosen one pressed. */
function facetView(facet, counts) {
  const now = chosen(facet.key),
    { key, names } = facet;
  const order = [...names.keys()].filter(at => counts[at] || names[at] === now).sort((a, b) => counts[b] - counts[a]);
  if (!order.length) return null;
  const most = wholeLists.has(key) ? 500 : SHOWN_VALUES;
  const shown = order.filter((at, place) => place < most || names[at] === now),
    left = order.length - shown.length;
  const top = Math.max(1, ...shown.map(at => counts[at]));
  const whole = () => {
    wholeLists.add(key);
    showFacets(last);
  };
  const remember = event => (event.target.open ? opened.add(key) : opened.delete(key));
  return el(
    "details",
    { class: "facet", open: opened.has(key) || now !== null, on: { toggle: remember } },
    el("summary", { text: facet.label }),
    el(
      "ul",
      null,
      shown.map(at => el("li", null, valueButton(key, names[at], counts[at], top))),
    ),
    left > 0 &&
      el("button", { type: "button", class: "plain more", text: `${count(left)} more`, on: { click: whole } }),
  );
}

/** Of two runs, whose differences, tools and arguments are asked for. */
function whoseView() {
  const choices = [
    ["", "either"],
    ["a", "A"],
    ["b", "B"],
  ];
  return el(
    "div",
    { class: "whose", role: "group", "aria-label": "Differences of" },
    el("span", { class: "muted", text: "Differences of" }),
    choices.map(([of, text]) =>
      el("button", {
        type: "button",
        class: "value",
        "aria-pressed": String((state.of || "") === of),
        data: { facet: "of", value: of },
        on: { click: () => go({ of: of || null }) },
        text,
      }),
    ),
  );
}

/** A value of a facet with the pairs that it would leave. */
function valueButton(key, value, n, top) {
  const words = key === "who" ? WHO_WORDS[value] : key.startsWith("state") ? stateWords(value) : nameText(value);
  const length = el("span", { class: "fill", "aria-hidden": "true" });
  length.style.width = share(n, top);
  const pressed = { "aria-pressed": String(chosen(key) === value), data: { facet: key, value } };
  const given = { type: "button", class: "value", ...pressed, on: { click: () => go(toggled(key, value)) } };
  return el(
    "button",
    given,
    length,
    foreign(words, { class: "name", title: visible(words) }),
    el("span", { class: "number", text: count(n) }),
  );
}

/** The facets anew; what had the focus keeps it. */
function showFacets({ facets, counts }) {
  const focused = document.activeElement?.dataset ?? {},
    { facet, value } = focused;
  const shown = facets.map((one, at) => facetView(one, counts[at]));
  if (two) shown.splice(facets.findIndex(one => one.key === "code"), 0, whoseView());
  byId("facets").replaceChildren(...shown.filter(Boolean));
  if (facet)
    [...byId("facets").querySelectorAll("button.value")]
      .find(one => one.dataset.facet === facet && one.dataset.value === value)
      ?.focus();
}

function showChosen() {
  const keys = [...FILTERS.filter(key => state[key] !== null), ...Object.keys(state.fields).map(name => `f.${name}`)];
  byId("chosen").replaceChildren(
    ...keys.map(key =>
      el(
        "li",
        null,
        el(
          "button",
          {
            type: "button",
            class: "chosen",
            "aria-label": `Remove filter: ${visible(chosen(key))}`,
            on: { click: () => go(key === "q" ? { q: null } : toggled(key, chosen(key))) },
          },
          foreign(
            key === "who"
              ? WHO_WORDS[chosen(key)] || chosen(key)
              : key === "q"
                ? `“${shortened(chosen(key), 40)}”`
                : shortened(nameText(chosen(key)), 60),
          ),
          el("span", { "aria-hidden": "true", text: " ✕" }),
        ),
      ),
    ),
    ...(keys.length > 1
      ? [
          el(
            "li",
            null,
            el("button", { type: "button", class: "plain", text: "all pairs", on: { click: () => go(nothing()) } }),
          ),
        ]
      : []),
  );
}

/** Find the pairs anew, where what is asked for has changed, or again where there is more to be found in. */
function refilter(again = false) {
  const asked = JSON.stringify([FILTERS.map(key => state[key]), state.fields, state.sort, state.of]);
  if (!again && last && last.asked === asked) return;
  const begun = performance.now(),
    found = matching(state);
  last = { asked, ...found };
  showList(found.found);
  showFacets(found);
  showChosen();
  const words = filtered() ? `${count(found.found.length)} of ${plural(all.n, UNIT)}` : plural(all.n, UNIT);
  const unknown = unknownIn(state).join("; ");
  byId("unknown").hidden = !unknown;
  byId("unknown").textContent = unknown;
  byId("found").textContent = words;
  say(unknown ? `${words}; ${unknown}` : words);
  performance.measure("filter", { start: begun, end: performance.now() });
}

const positions = () => (all.positions ||= new Map([...all.id.keys()].reverse().map(k => [addressed(idOf(k)), k])));

function showOpen() {
  const k = state.id !== null ? (positions().get(addressed(state.id)) ?? -1) : -1;
  byId("pairs").classList.toggle("open", state.id !== null);
  markOpen(k);
  if (k >= 0) {
    if (pane.k !== k || pane.at !== list.at) showPair(k).catch(failed);
    pane.at = list.at;
  } else
    showNoPair(
      state.id !== null
        ? `There is no ${UNIT} ${visible(state.id)} in this report.`
        : all.n
          ? `Choose a ${UNIT}: with the mouse, or with j and k.`
          : `There are no ${UNIT}s.`,
    );
}
