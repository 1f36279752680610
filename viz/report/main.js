// The page as a whole: its views, keys, colours and printing.

const PRINTED = 500;

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
  j: () => step(1),
  ArrowDown: () => step(1),
  k: () => step(-1),
  ArrowUp: () => step(-1),
  Home: () => openAt(0, true),
  End: () => openAt(list.found.length - 1, true),
  PageDown: () => step(Math.floor(list.height / list.row)),
  PageUp: () => step(-Math.floor(list.height / list.row)),
  Enter: () => {
    if (pane.k >= 0) byId("pair-id")?.focus();
    else step(1);
  },
};
const ONLY_IN_LIST = ["ArrowDown", "ArrowUp", "Home", "End", "PageDown", "PageUp", "Enter"];

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const target = event.target,
    typing = target.matches("input, select, textarea");
  if (event.key === "Escape") return escape(typing, event);
  if (typing) {
    if (event.key === "ArrowDown" && target.id === "find") {
      event.preventDefault();
      list.scroller.focus();
      step(list.at < 0 ? 1 : 0);
    }
    return;
  }
  if (event.key === "/") {
    event.preventDefault();
    go({ view: "pairs" });
    byId("find").focus();
    byId("find").select();
    return;
  }
  if (event.key === "?") {
    event.preventDefault();
    byId("help").showModal();
    return;
  }
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null,
    inList = target === list.scroller || target === document.body || target === byId("main");
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
const THEME_WORDS = { auto: "◐ System theme", light: "☀ light", dark: "☾ dark" };
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = THEME_WORDS[theme];
  byId("theme").setAttribute("aria-label", `Colours: ${THEME_WORDS[theme].slice(2)}`);
  try {
    localStorage.setItem("planeval-theme", theme);
  } catch {
    /* a page from disk may keep nothing */
  }
}
function keptTheme() {
  try {
    return localStorage.getItem("planeval-theme");
  } catch {
    return null;
  }
}

/** On paper the list is a table, for only rows in sight are elements. */
function beforePrint() {
  if (state.view !== "pairs") return;
  const rows = list.found.slice(0, PRINTED),
    left = list.found.length - rows.length;
  const cells = k => [
    foreign(idOf(k)),
    ...head.runs.flatMap((_, run) => [stateWords(run ? stateOfB(k) : stateOf(k)), foreign(firstOf(k, run))]),
  ];
  byId("printed").replaceChildren(
    el(
      "table",
      null,
      el("caption", { text: byId("found").textContent }),
      el(
        "thead",
        null,
        el(
          "tr",
          null,
          ["pair", ...head.runs.flatMap((_, run) => (two ? [LETTER[run], `first difference of ${LETTER[run]}`] : ["state", "first difference"]))].map(
            text => el("th", { scope: "col", text }),
          ),
        ),
      ),
      el(
        "tbody",
        null,
        rows.map(k =>
          el(
            "tr",
            null,
            cells(k).map(cell => el("td", null, cell)),
          ),
        ),
      ),
    ),
    ...(left > 0 ? [el("p", { text: `and ${count(left)} more` })] : []),
  );
}

function listen() {
  document.addEventListener("keydown", onKey);
  byId("theme").addEventListener("click", () =>
    setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]),
  );
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("skip").addEventListener("click", event => {
    event.preventDefault();
    byId("main").focus();
  });
  for (const link of byId("views").children)
    link.addEventListener("click", event => {
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
  byId("failed").textContent =
    typeof DecompressionStream === "undefined"
      ? "This browser is too old: it cannot unpack the page's data. Chrome 123, Firefox 120 and Safari 17.5 can."
      : `This page cannot be shown: ${visible(error.message)}`;
}

async function start() {
  setTheme(THEMES.find(theme => theme === keptTheme()) || head.theme || "auto");
  byId("about").replaceChildren(
    ...head.runs.map((run, at) =>
      el("span", null, two && el("b", { class: "letter", text: LETTER[at] }), foreign(run.name)),
    ),
    el("span", { text: plural(head.pairs, UNIT) }),
  );
  byId("made").textContent = `planeval ${head.version}`;
  if (variants) byId("views").querySelector("[data-view=pairs]").textContent = "Records";
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
