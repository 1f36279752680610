// Which pairs are shown, in what order, and how many pairs each choice would leave.

let all; // the index and what is made of it once

const WHO = ["both", "a", "b", "neither"];
const WHO_WORDS = { both: "both right", a: "only A right", b: "only B right", neither: "both wrong" };
const NOT_JUDGED = ["gold_unreadable", "gold_absent"];

/** A choice among values: for each pair the positions of its values, end to end, and where they begin. */
function facetOf(key, label, strings, column) {
  const local = new Map(),
    values = [],
    begins = new Uint32Array(column.length + 1),
    flat = [];
  column.forEach((given, k) => {
    for (const s of Array.isArray(given) ? new Set(given) : [given]) {
      if (s < 0) continue;
      let at = local.get(s);
      if (at === undefined) {
        at = values.length;
        local.set(s, at);
        values.push(s);
      }
      flat.push(at);
    }
    begins[k + 1] = flat.length;
  });
  return { key, label, names: values.map(s => strings[s]), begins, flat: Uint32Array.from(flat) };
}

/** Everything that filters and counts need, made once. */
function prepare(index) {
  const names = Object.keys(head.states),
    strings = index.strings;
  const facets = [facetOf("state", two ? `State of A` : variants ? "Verdict" : "State", names, index.state)];
  const fields = Object.entries(index.fields || {}).map(([name, column]) => facetOf(`f.${name}`, visible(name), strings, column));
  if (variants) facets.push(...fields);
  if (index.state_b) {
    facets.push(facetOf("stateb", "State of B", names, index.state_b));
    facets.push(
      facetOf(
        "who",
        "Who is right",
        WHO,
        index.state.map((_, k) => whoIsRight(names, index, k)),
      ),
    );
  }
  for (const [key, label] of [
    ["code", "Difference"],
    ["tool", "Tool"],
    ["argument", "Argument"],
  ]) {
    facets.push({ ...facetOf(key, label, strings, index[`${key}s`]), of: "" });
    if (two)
      RUN_KEYS.forEach((of, run) =>
        facets.push({ ...facetOf(key, `${label} of ${LETTER[run]}`, strings, index[`${key}s_${of}`]), of }),
      );
  }
  if (!variants) facets.push(...fields);
  all = { ...index, n: index.id.length, names, facets, orders: { "": null }, lower: null, words: null, texts: null };
}

/** The facets that an address may ask by: of two runs those of what either has, or one of them. */
const facetsFor = of =>
  all.facets.filter(one => one.of === undefined || one.of === (two && RUN_KEYS.includes(of) ? of : ""));

const MOST_TOLD = 12;
/** What an address asks for and no pair of this report has, in words: it is not passed over. */
function unknownIn(asked) {
  const facets = facetsFor(asked.of),
    keys = FILTERS.filter(key => key !== "q" && asked[key] !== null),
    said = [];
  const wanted = [...keys.map(key => [key, key, asked[key]]), ...Object.entries(asked.fields).map(([name, value]) => [`f.${name}`, name, value])];
  for (const [key, name, value] of wanted) {
    const facet = facets.find(one => one.key === key);
    if (!facet) said.push(`this report has no “${visible(shortened(name, 60))}” to choose by`);
    else if (!facet.names.some(one => addressed(one) === addressed(value))) {
      const there = facet.names.length && facet.names.length <= MOST_TOLD ? `: there are ${facet.names.map(nameText).join(", ")}` : "";
      said.push(`no pair has “${visible(shortened(value, 60))}” as ${visible(facet.label)}${there}`);
    }
  }
  if (asked.sort && orderOf(asked.sort) === null) said.push(`there is no order “${visible(shortened(asked.sort, 60))}”`);
  if (asked.of && !(two && RUN_KEYS.includes(asked.of))) said.push(`there is no run “${visible(shortened(asked.of, 60))}”`);
  return said;
}

/** Position in WHO; -1 where gold says nothing. */
function whoIsRight(names, index, k) {
  const a = names[index.state[k]],
    b = names[index.state_b[k]];
  if (NOT_JUDGED.includes(a) || NOT_JUDGED.includes(b)) return -1;
  return a === "same" ? (b === "same" ? 0 : 1) : b === "same" ? 2 : 3;
}

const idOf = k => all.strings[all.id[k]];
const stateOf = k => all.names[all.state[k]];
const stateOfB = k => all.names[all.state_b[k]];
const ALIKE = "calls that no difference is about, of the calls of both plans";
/** How many of a pair's calls no difference is about; never all where there is one. */
const alikeText = (k, run = 0) => `${Math.floor(scoreOf(k, run) / 10)} %`;
const firstOf = (k, run = 0) => {
  const at = (run ? all.first_b : all.first)[k];
  return at < 0 ? "" : all.strings[at];
};
const scoreOf = (k, run = 0) => (run ? all.score_b : all.score)[k];
/** Who is right about a pair, as WHO has it; undefined where gold says nothing. */
function whoOf(k) {
  const { names, flat, begins } = all.facets.find(one => one.key === "who");
  return begins[k] < begins[k + 1] ? names[flat[begins[k]]] : undefined;
}

/** The strings of each pair that words are looked for in, end to end. */
function wordsOfPairs() {
  const begins = new Uint32Array(all.n + 1),
    flat = [];
  const columns = [
    all.id,
    all.first,
    all.first_b,
    all.codes,
    all.tools,
    all.arguments,
    ...Object.values(all.fields || {}),
  ].filter(Boolean);
  for (let k = 0; k < all.n; k++) {
    for (const column of columns) {
      const given = column[k];
      if (typeof given === "number") {
        if (given >= 0) flat.push(given);
      } else flat.push(...given);
    }
    begins[k + 1] = flat.length;
  }
  return { begins, flat: Uint32Array.from(flat) };
}

/** The words asked for; what stands in quotation marks is one. */
const wordsOf = text => [...(text || "").toLowerCase().matchAll(/"([^"]+)"?|(\S+)/g)].map(m => m[1] || m[2]);

/** What the first search needs, made when the page has nothing else to do. */
function prepareSearch() {
  all.lower ||= all.strings.map(one => one.toLowerCase());
  all.words ||= wordsOfPairs();
}

const MOST_SEARCHED = 50_000; // pairs whose texts are looked through: more take too long at each letter

/** With the first search all texts and questions are unpacked, a thousand pairs at a time; the last finds again. */
async function prepareTexts() {
  if (all.texts || all.n > MOST_SEARCHED) return;
  all.texts = { preds: all.id.map(() => ""), golds: [], of: [] };
  for await (const share of unpackTexts(all.texts)) {
    byId("deeper").textContent = share < 1 ? `looking into texts: ${Math.floor(100 * share)} %` : "";
    await new Promise(resolve => setTimeout(resolve));
  }
  if (state.view !== "pairs") return;
  refilter(true);
  showOpen();
}

/** Whether a pair's texts or question hold a word, as far as they are unpacked. */
function textsWith(word) {
  const { preds, golds, of } = all.texts,
    known = golds.map(text => text.includes(word));
  return k => preds[k].includes(word) || of.some(numbers => known[numbers[k]]);
}

/** Which pairs have all words, as a list of zeros and ones; null where none is asked for. */
function pairsWith(text) {
  const words = wordsOf(text);
  if (!words.length) return null;
  prepareSearch();
  prepareTexts().catch(failed);
  const { begins, flat } = all.words,
    fits = new Uint8Array(all.n).fill(1);
  for (const word of words) {
    const has = new Uint8Array(all.lower.length);
    all.lower.forEach((one, s) => {
      if (one.includes(word)) has[s] = 1;
    });
    const inTexts = all.texts ? textsWith(word) : () => false;
    for (let k = 0; k < all.n; k++) {
      if (!fits[k]) continue;
      let at = begins[k];
      while (at < begins[k + 1] && !has[flat[at]]) at++;
      if (at === begins[k + 1] && !inTexts(k)) fits[k] = 0;
    }
  }
  return fits;
}

/** The order of all pairs under a way to sort, made once each; null as in the files. */
function orderOf(sort) {
  if (sort in all.orders) return all.orders[sort];
  const descends = sort.startsWith("-"),
    key = descends ? sort.slice(1) : sort;
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const ways = {
    id: (a, b) => compare(idOf(a), idOf(b)),
    state: (a, b) => all.state[a] - all.state[b],
    alike: (a, b) => all.score[a] - all.score[b],
    alikeb: (a, b) => all.score_b[a] - all.score_b[b],
    edits: (a, b) => all.codes[a].length - all.codes[b].length,
  };
  if (!Object.hasOwn(ways, key) || (key === "alikeb" && !two)) return (all.orders[sort] = null);
  const order = Uint32Array.from({ length: all.n }, (_, k) => k);
  order.sort((a, b) => (descends ? -1 : 1) * ways[key](a, b) || a - b);
  return (all.orders[sort] = order);
}

const has = (facet, k, at) => {
  for (let i = facet.begins[k]; i < facet.begins[k + 1]; i++) if (facet.flat[i] === at) return true;
  return false;
};

const tally = (facet, counts, k) => {
  for (let i = facet.begins[k]; i < facet.begins[k + 1]; i++) counts[facet.flat[i]]++;
};

/**
 * The pairs that the state asks for, and for each facet how many pairs each of its values would leave.
 * A facet's own choice does not narrow its counts: they say what a click on another value would show.
 */
function matching(asked) {
  const fits = pairsWith(asked.q),
    order = orderOf(asked.sort || ""),
    facets = facetsFor(asked.of),
    found = [];
  const counts = facets.map(facet => new Uint32Array(facet.names.length));
  const active = facets
    .map((facet, at) => ({
      facet,
      at,
      value: facet.key.startsWith("f.") ? asked.fields[facet.key.slice(2)] : asked[facet.key],
    }))
    .filter(one => (one.value ?? null) !== null)
    .map(one => ({ ...one, value: one.facet.names.findIndex(name => addressed(name) === addressed(one.value)) }));
  for (let i = 0; i < all.n; i++) {
    const k = order ? order[i] : i;
    if (fits && !fits[k]) continue;
    let failed = null,
      fails = 0;
    for (const one of active)
      if (!has(one.facet, k, one.value)) {
        failed = one;
        if (++fails > 1) break;
      }
    if (fails > 1) continue;
    if (fails) {
      tally(failed.facet, counts[failed.at], k);
      continue;
    }
    found.push(k);
    for (let at = 0; at < counts.length; at++) tally(facets[at], counts[at], k);
  }
  return { found, facets, counts };
}
