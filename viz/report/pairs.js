// The pairs: search, order, filters with their counts, and which pair is open.

const SHOWN_VALUES = 8;
const opened = new Set(["state", "stateb", "who", "code", "tool"]);
const wholeLists = new Set();
const SORTS = [
  ["", "as in the files"],
  ["id", "by id"],
  ["score", "lowest score first"],
  ["-score", "highest score first"],
  ["-edits", "most kinds of difference"],
  ["state", "by state"],
];
let last = null;

function makePairs() {
  const search = el("input", {
    id: "find",
    type: "search",
    placeholder: "ids, words, tools, values…",
    "aria-label": "Find pairs by words",
    autocomplete: "off",
    spellcheck: "false",
  });
  search.addEventListener("input", () => go({ view: "pairs", q: search.value || null }, true));
  const sort = el(
    "select",
    { id: "sort", "aria-label": "Sort" },
    SORTS.map(([value, text]) => el("option", { value, text })),
  );
  sort.addEventListener("change", () => go({ sort: sort.value || null }));
  pane.node = el("article", { id: "pair", "aria-label": "One pair", tabindex: "-1" });
  new ResizeObserver(([one]) => {
    pane.width = one.contentRect.width || innerWidth;
  }).observe(pane.node);
  byId("pairs").append(
    el("aside", { id: "facets", "aria-label": "Filters" }),
    el(
      "div",
      { class: "column" },
      el(
        "div",
        { class: "controls" },
        search,
        sort,
        el("button", {
          type: "button",
          id: "filters",
          class: "plain",
          "aria-expanded": "false",
          "aria-controls": "facets",
          text: "filters",
          on: { click: toggleFilters },
        }),
      ),
      el(
        "div",
        { class: "found" },
        el("span", { id: "found" }),
        el("ul", { id: "chosen", "aria-label": "Filters in force" }),
      ),
      makeList(),
    ),
    pane.node,
  );
}

function toggleFilters() {
  const shown = byId("pairs").classList.toggle("filtering");
  byId("filters").setAttribute("aria-expanded", String(shown));
}

/** One facet: its values with the pairs that each would leave, the chosen one pressed. */
function facetView(facet, counts) {
  const now = chosen(facet.key),
    order = [...facet.names.keys()]
      .filter(at => counts[at] || facet.names[at] === now)
      .sort((a, b) => counts[b] - counts[a]);
  if (!order.length) return null;
  const whole = wholeLists.has(facet.key),
    shown = order.filter((at, place) => place < (whole ? 500 : SHOWN_VALUES) || facet.names[at] === now),
    top = Math.max(1, ...shown.map(at => counts[at]));
  const words = name =>
    facet.key === "who" ? WHO_WORDS[name] : facet.key.startsWith("state") ? stateWords(name) : nameText(name);
  const box = el(
    "details",
    {
      class: "facet",
      open: opened.has(facet.key) || now !== null,
      on: { toggle: event => (event.target.open ? opened.add(facet.key) : opened.delete(facet.key)) },
    },
    el("summary", { text: facet.label }),
    el(
      "ul",
      null,
      shown.map(at => {
        const fillBar = el("span", { class: "fill", "aria-hidden": "true" });
        fillBar.style.width = share(counts[at], top);
        return el(
          "li",
          null,
          el(
            "button",
            {
              type: "button",
              class: "value",
              "aria-pressed": String(facet.names[at] === now),
              data: { facet: facet.key, value: facet.names[at] },
              on: { click: () => go(toggled(facet.key, facet.names[at])) },
            },
            fillBar,
            foreign(words(facet.names[at]), { class: "name" }),
            el("span", { class: "number", text: count(counts[at]) }),
          ),
        );
      }),
    ),
    order.length > shown.length &&
      el("button", {
        type: "button",
        class: "plain more",
        text: `${count(order.length - shown.length)} more`,
        on: {
          click: () => {
            wholeLists.add(facet.key);
            showFacets(last.counts);
          },
        },
      }),
  );
  return box;
}

/** The facets anew; what had the focus keeps it. */
function showFacets(counts) {
  const focused = document.activeElement?.dataset ?? {},
    { facet, value } = focused;
  byId("facets").replaceChildren(...all.facets.map((one, at) => facetView(one, counts[at])).filter(Boolean));
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
            "aria-label": `Take away: ${visible(chosen(key))}`,
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

/** Find the pairs anew, where what is asked for has changed. */
function refilter() {
  const asked = JSON.stringify([FILTERS.map(key => state[key]), state.fields, state.sort]);
  if (last && last.asked === asked) return;
  const begun = performance.now(),
    found = matching(state);
  last = { asked, ...found };
  showList(found.found);
  showFacets(found.counts);
  showChosen();
  const words = filtered() ? `${count(found.found.length)} of ${plural(all.n, "pair")}` : plural(all.n, "pair");
  byId("found").textContent = words;
  say(words);
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
        ? `There is no pair ${visible(state.id)} in this report.`
        : all.n
          ? "Choose a pair: with the mouse, or with j and k."
          : "There are no pairs.",
    );
}
