// The page as a whole: its views, filters, keys and printing.

const SHOWN_VALUES = 8, PRINTED = 500;
const opened = new Set(["state", "stateb", "who", "code", "tool"]);
const wholeLists = new Set();
const SORTS = [["", "as in the files"], ["id", "by id"], ["score", "lowest score first"], ["-score", "highest score first"], ["-edits", "most kinds of difference"], ["state", "by state"]];
let last = null;

function makePairs() {
  const search = el("input", { id: "find", type: "search", placeholder: "ids, words, tools, values…", "aria-label": "Find pairs by words", autocomplete: "off", spellcheck: "false" });
  search.addEventListener("input", () => go({ view: "pairs", q: search.value || null }, true));
  const sort = el("select", { id: "sort", "aria-label": "Sort" }, SORTS.map(([value, text]) => el("option", { value, text })));
  sort.addEventListener("change", () => go({ sort: sort.value || null }));
  pane.node = el("article", { id: "pair", "aria-label": "One pair", tabindex: "-1" });
  new ResizeObserver(([one]) => { pane.width = one.contentRect.width || innerWidth; }).observe(pane.node);
  byId("pairs").append(
    el("aside", { id: "facets", "aria-label": "Filters" }),
    el("div", { class: "column" }, el("div", { class: "controls" }, search, sort,
      el("button", { type: "button", id: "filters", class: "plain", "aria-expanded": "false", "aria-controls": "facets", text: "filters", on: { click: toggleFilters } })),
    el("div", { class: "found" }, el("span", { id: "found" }), el("ul", { id: "chosen", "aria-label": "Filters in force" })), makeList()), pane.node);
}

function toggleFilters() {
  const shown = byId("pairs").classList.toggle("filtering");
  byId("filters").setAttribute("aria-expanded", String(shown));
}

/** One facet: its values with the pairs that each would leave, the chosen one pressed. */
function facetView(facet, counts) {
  const now = chosen(facet.key), order = [...facet.names.keys()].filter(at => counts[at] || facet.names[at] === now).sort((a, b) => counts[b] - counts[a]);
  if (!order.length) return null;
  const whole = wholeLists.has(facet.key), shown = order.filter((at, place) => place < (whole ? 500 : SHOWN_VALUES) || facet.names[at] === now), top = Math.max(1, ...shown.map(at => counts[at]));
  const words = name => (facet.key === "who" ? WHO_WORDS[name] : facet.key.startsWith("state") ? stateWords(name) : nameText(name));
  const box = el("details", { class: "facet", open: opened.has(facet.key) || now !== null, on: { toggle: event => (event.target.open ? opened.add(facet.key) : opened.delete(facet.key)) } },
    el("summary", { text: facet.label }), el("ul", null, shown.map(at => {
      const fillBar = el("span", { class: "fill", "aria-hidden": "true" });
      fillBar.style.width = share(counts[at], top);
      return el("li", null, el("button", { type: "button", class: "value", "aria-pressed": String(facet.names[at] === now), data: { facet: facet.key, value: facet.names[at] },
        on: { click: () => go(toggled(facet.key, facet.names[at])) } }, fillBar, foreign(words(facet.names[at]), { class: "name" }), el("span", { class: "number", text: count(counts[at]) })));
    })), order.length > shown.length && el("button", { type: "button", class: "plain more", text: `${count(order.length - shown.length)} more`,
      on: { click: () => { wholeLists.add(facet.key); showFacets(last.counts); } } }));
  return box;
}

/** The facets anew; what had the focus keeps it. */
function showFacets(counts) {
  const focused = document.activeElement?.dataset ?? {}, { facet, value } = focused;
  byId("facets").replaceChildren(...all.facets.map((one, at) => facetView(one, counts[at])).filter(Boolean));
  if (facet) [...byId("facets").querySelectorAll("button.value")].find(one => one.dataset.facet === facet && one.dataset.value === value)?.focus();
}

function showChosen() {
  const keys = [...FILTERS.filter(key => state[key] !== null), ...Object.keys(state.fields).map(name => `f.${name}`)];
  byId("chosen").replaceChildren(...keys.map(key => el("li", null, el("button", { type: "button", class: "chosen", "aria-label": `Take away: ${visible(chosen(key))}`, on: { click: () => go(key === "q" ? { q: null } : toggled(key, chosen(key))) } },
    foreign(key === "who" ? WHO_WORDS[chosen(key)] || chosen(key) : key === "q" ? `“${shortened(chosen(key), 40)}”` : shortened(nameText(chosen(key)), 60)), el("span", { "aria-hidden": "true", text: " ✕" })))),
  ...(keys.length > 1 ? [el("li", null, el("button", { type: "button", class: "plain", text: "all pairs", on: { click: () => go(nothing()) } }))] : []));
}

/** Find the pairs anew, where what is asked for has changed. */
function refilter() {
  const asked = JSON.stringify([FILTERS.map(key => state[key]), state.fields, state.sort]);
  if (last && last.asked === asked) return;
  const begun = performance.now(), found = matching(state);
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
  const k = state.id !== null ? positions().get(addressed(state.id)) ?? -1 : -1;
  byId("pairs").classList.toggle("open", state.id !== null);
  markOpen(k);
  if (k >= 0) { if (pane.k !== k || pane.at !== list.at) showPair(k).catch(failed); pane.at = list.at; }
  else showNoPair(state.id !== null ? `There is no pair ${visible(state.id)} in this report.` : all.n ? "Choose a pair: with the mouse, or with j and k." : "There are no pairs.");
}

function update() {
  for (const view of VIEWS) byId(view).hidden = view !== state.view;
  for (const link of byId("views").children) {
    if (link.dataset.view === state.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.body.dataset.view = state.view;
  if (state.view !== "pairs") return;
  if (document.activeElement !== byId("find")) byId("find").value = state.q || "";
  byId("sort").value = state.sort || "";
  refilter();
  showOpen();
}

const KEYS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  Home: () => openAt(0, true), End: () => openAt(list.found.length - 1, true),
  PageDown: () => step(Math.floor(list.height / list.row)), PageUp: () => step(-Math.floor(list.height / list.row)),
  Enter: () => { if (pane.k >= 0) byId("pair-id")?.focus(); else step(1); },
};
const ONLY_IN_LIST = ["ArrowDown", "ArrowUp", "Home", "End", "PageDown", "PageUp", "Enter"];

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const target = event.target, typing = target.matches("input, select, textarea");
  if (event.key === "Escape") return escape(typing, event);
  if (typing) { if (event.key === "ArrowDown" && target.id === "find") { event.preventDefault(); list.scroller.focus(); step(list.at < 0 ? 1 : 0); } return; }
  if (event.key === "/") { event.preventDefault(); go({ view: "pairs" }); byId("find").focus(); byId("find").select(); return; }
  if (event.key === "?") { event.preventDefault(); byId("help").showModal(); return; }
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null, inList = target === list.scroller || target === document.body || target === byId("main");
  if (!act || (state.view !== "pairs" && event.key.length > 1) || (ONLY_IN_LIST.includes(event.key) && !inList)) return;
  event.preventDefault();
  act();
}

/** Out of the search, then out of the pair, then out of the filters. */
function escape(typing, event) {
  if (state.view !== "pairs") return;
  event.preventDefault();
  if (typing) list.scroller.focus();
  else if (state.id !== null) closePair();
  else if (filtered()) go(nothing());
}

const THEMES = ["auto", "light", "dark"];
const THEME_WORDS = { auto: "◐ as the system", light: "☀ light", dark: "☾ dark" };
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = THEME_WORDS[theme];
  byId("theme").setAttribute("aria-label", `Colours: ${THEME_WORDS[theme].slice(2)}`);
  try { localStorage.setItem("planeval-theme", theme); } catch { /* a page from disk may keep nothing */ }
}
function keptTheme() {
  try { return localStorage.getItem("planeval-theme"); } catch { return null; }
}

/** On paper the list is a table, for only rows in sight are elements. */
function beforePrint() {
  if (state.view !== "pairs") return;
  const rows = list.found.slice(0, PRINTED), left = list.found.length - rows.length;
  const cells = k => [foreign(idOf(k)), two ? `A ${stateWords(stateOf(k))}, B ${stateWords(stateOfB(k))}` : stateWords(stateOf(k)), foreign(firstOf(k))];
  byId("printed").replaceChildren(el("table", null, el("caption", { text: byId("found").textContent }), el("thead", null, el("tr", null, ["pair", "state", "first difference"].map(text => el("th", { scope: "col", text })))),
    el("tbody", null, rows.map(k => el("tr", null, cells(k).map(cell => el("td", null, cell)))))), ...(left > 0 ? [el("p", { text: `and ${count(left)} more` })] : []));
}

function listen() {
  document.addEventListener("keydown", onKey);
  byId("theme").addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]));
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("skip").addEventListener("click", event => { event.preventDefault(); byId("main").focus(); });
  for (const link of byId("views").children) link.addEventListener("click", event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go({ view: link.dataset.view, ...(link.dataset.view === "pairs" ? {} : { id: null }) });
  });
  addEventListener("beforeprint", beforePrint);
  addEventListener("afterprint", () => byId("printed").replaceChildren());
}

function failed(error) {
  console.error(error);
  byId("failed").hidden = false;
  byId("failed").textContent = typeof DecompressionStream === "undefined"
    ? "This browser is too old for this page: it cannot unpack its data. Chrome 123, Firefox 120, Safari 17.5 and later can."
    : `This page cannot be shown: ${visible(error.message)}`;
}

async function start() {
  setTheme(THEMES.find(theme => theme === keptTheme()) || head.theme || "auto");
  byId("about").replaceChildren(...head.runs.map((run, at) => el("span", null, two && el("b", { class: "letter", text: LETTER[at] }), foreign(run.name))), el("span", { text: plural(head.pairs, "pair") }));
  byId("made").textContent = `planeval ${head.version}`;
  if (!two) byId("views").querySelector("[data-view=compare]").remove();
  prepare(await index());
  makePairs();
  makeOverview();
  makeCompare();
  listen();
  onState = update;
  update();
  (globalThis.requestIdleCallback || setTimeout)(prepareSearch);
  document.documentElement.dataset.ready = Math.round(performance.now());
  performance.mark("ready");
}
start().catch(failed);
