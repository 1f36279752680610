// What is shown stands in the address behind #, so that links, back and forward work.

const PLAIN = ["view", "id", "state", "stateb", "who", "of", "code", "tool", "argument", "q", "sort"];
const VIEWS = ["overview", "pairs", "compare"];
const EMPTY_IS_NONE = ["q", "sort", "of"]; // a tool or a value may have an empty name, and be asked for by it
const FILTERS = ["state", "stateb", "who", "code", "tool", "argument", "q"];

/** The state that an address names; what it does not know is left out. */
function readState(hash) {
  const state = { view: "", fields: {} };
  for (const key of PLAIN) if (key !== "view") state[key] = null;
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (key === "view" || EMPTY_IS_NONE.includes(key)) state[key] = value || (key === "view" ? "" : null);
    else if (PLAIN.includes(key)) state[key] = value;
    else if (key.startsWith("f.")) state.fields[key.slice(2)] = value;
  }
  if (!VIEWS.includes(state.view) || (state.view === "compare" && !two)) {
    state.view =
      PLAIN.some(key => key !== "view" && state[key] !== null) || Object.keys(state.fields).length
        ? "pairs"
        : "overview";
  }
  return state;
}

/** The address of a state; the view only where it does not follow from the rest. */
function writeState(state) {
  const said = new URLSearchParams();
  for (const key of PLAIN) if (key !== "view" && state[key] !== null) said.set(key, state[key]);
  for (const [name, value] of Object.entries(state.fields)) said.set(`f.${name}`, value);
  const implied = said.size ? "pairs" : "overview";
  if (state.view !== implied) said.set("view", state.view);
  return `#${said}`;
}

let state = readState(location.hash);
let onState = () => {};

/** Change the state; in place where going back should not stop here. */
function go(change, inPlace) {
  state = { ...state, ...change };
  const address = writeState(state);
  if (address !== location.hash && !(address === "#" && !location.hash)) {
    history[inPlace ? "replaceState" : "pushState"](null, "", address);
  }
  onState();
}

/** The state with one filter put, or taken away where it is there already. */
function toggled(key, value, from) {
  const before = from || state;
  if (key.startsWith("f.")) {
    const fields = { ...before.fields };
    if (fields[key.slice(2)] === value) delete fields[key.slice(2)];
    else fields[key.slice(2)] = value;
    return { view: "pairs", fields };
  }
  return { view: "pairs", [key]: before[key] === value ? null : value };
}

const chosen = key => (key.startsWith("f.") ? state.fields[key.slice(2)] : state[key]) ?? null;
const nothing = () => ({ ...Object.fromEntries(FILTERS.map(key => [key, null])), fields: {} });
const filtered = () => FILTERS.some(key => state[key] !== null) || Object.keys(state.fields).length > 0;

/** The address of this page with only a change of the state, for links that work with a middle click. */
const addressOf = change => writeState({ ...readState(""), view: "pairs", ...change });

function followHistory() {
  const next = readState(location.hash);
  if (writeState(next) === writeState(state)) return;
  state = next;
  onState();
}
addEventListener("popstate", followHistory);
addEventListener("hashchange", followHistory);
