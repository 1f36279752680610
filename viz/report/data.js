// The data of the page: the head at once, the index when the page opens, pairs by the thousand when asked for.
// planner_eval/results/page/ packs it in columns, the pairs in the order of their gold plans, which are kept once;
// index() and detail(k) give the shapes that the rest of the script sees.

const KEPT_PACKS = 8;  // unpacked packs that stay in memory

const head = JSON.parse(byId("head").textContent);
Object.assign(meanings, head.terms);
const two = head.runs.length > 1;
const RUN_KEYS = ["a", "b"], LETTER = ["A", "B"];
const packs = new Map();
let packed = null;

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** The JSON of a pack. */
function unpack(number) {
  const stream = new Blob([bytesOf(byId(`pack-${number}`).textContent.trim())]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** A pack of pairs or of gold plans, kept for a while. */
function pack(number) {
  const found = packs.get(number) || unpack(number);
  packs.delete(number);
  packs.set(number, found);
  if (packs.size > KEPT_PACKS) packs.delete(packs.keys().next().value);
  return found;
}

/** The index as it is packed, with the number of each pair's gold plan and the pair's place among the packs. */
async function packedIndex() {
  if (packed) return packed;
  const found = await unpack(0);
  found.golds = found.sides.map(({ gold }) => {
    let last = -1;
    return gold.map(step => (last += step + 1));
  });
  found.place = new Array(found.id.length);
  const first = found.golds[0];
  first.map((_, k) => k).sort((a, b) => first[a] - first[b] || a - b).forEach((k, at) => { found.place[k] = at; });
  packed = found;
  return found;
}

/** The index of all pairs. */
async function index() {
  const { strings, id, fields, lists, sides, states, place } = await packedIndex();
  const numbers = new Map(strings.map((text, s) => [text, s])), shown = strings.slice();
  const interned = text => {
    let s = numbers.get(text);
    if (s === undefined) { s = shown.length; numbers.set(text, s); shown.push(text); }
    return s;
  };
  const back = (column, read) => place.map(at => read(column[at]));
  const known = Object.keys(head.states), ordered = states.map(state => known.indexOf(state));
  const made = { strings: shown, id: id.map(interned), fields };
  for (const [number, side] of sides.entries()) {
    const end = number ? "_b" : "";
    made[`state${end}`] = back(side.state, state => ordered[state]);
    made[`first${end}`] = back(side.first, text => (text ? interned(text) : -1));
    made[`score${end}`] = back(side.score, score => score);
    for (const name of ["codes", "tools", "arguments"]) {
      const column = back(side[name], list => lists[list]);
      made[name] = number ? made[name].map((one, k) => [...new Set([...one, ...column[k]])]) : column;
      if (two) made[`${name}_${RUN_KEYS[number]}`] = column;
    }
  }
  return made;
}

/** A gold plan with its text, and the question. */
async function goldOf(number) {
  if (number < 0) return [null, null];
  const [golds, asked] = await pack(1 + head.details + Math.floor(number / head.chunk));
  return [golds[number % head.chunk], asked[number % head.chunk]];
}

/** A prediction; calls and arguments that are gold's stand as their numbers there. */
function planOf(found, gold) {
  if (found === null) return null;
  const listed = Array.isArray(found) ? found : found.c;
  const c = listed.map(call => {
    if (typeof call === "number") return gold.c[call];
    if (typeof call[0] !== "number") return call;
    const [tool, known] = gold.c[call[0]];
    return [tool, call[1].map(one => (typeof one === "number" ? known[one] : one))];
  });
  return Array.isArray(found) ? { c } : { c, a: found.a };
}

/** All that is known of one pair. */
async function detail(k) {
  const { golds, place } = await packedIndex(), at = place[k], made = {};
  const sides = await pack(1 + Math.floor(at / head.chunk));
  for (const [number, columns] of sides.entries()) {
    const [p, text, edits, partners, structure, more] = columns.map(column => column[at % head.chunk]);
    const end = number ? "b" : "";
    const [known, asked] = await goldOf(golds[number][k]);
    const [gold, said] = known || [null, null];
    if (asked !== null) made.q = asked;
    if (!number || golds[0][k] !== golds[1][k]) {
      made[`g${end}`] = gold;
      if (said !== null) made[`gt${end}`] = said;
    }
    const pred = planOf(p, gold);
    made[`p${end}`] = pred;
    if (text !== null) made[`pt${end}`] = text;
    made[`e${end}`] = (edits || []).map(([code, ...told]) => [packed.codes[code], ...told]);
    made[`al${end}`] = (partners || []).map(([ours, theirs]) => [theirs, ours]);
    if (structure) made[`s${end}`] = structure;
    for (const [name, value] of Object.entries(more || {})) made[name + end] = value;
  }
  return made;
}

const spoken = asked => (Array.isArray(asked) ? asked.map(({ text }) => text).join("\n") : asked || "");

/**
 * All texts in small letters: of predictions by pair, of gold plans, each with its question, by number.
 * Yields after each pack which share is done.
 */
async function* unpackTexts(into) {
  const { golds, place } = await packedIndex(), pairs = new Uint32Array(place.length);
  place.forEach((at, k) => { pairs[at] = k; });
  into.of = golds;
  for (let number = 1; number < head.packs; number++) {
    const found = await unpack(number), first = (number - 1) * head.chunk;
    if (number > head.details) {
      const [plans, asked] = found;
      for (const [at, one] of plans.entries())
        into.golds.push(`${(one && one[1]) || ""}\n${spoken(asked[at])}`.toLowerCase());
    } else for (const [, texts] of found)
      texts.forEach((text, at) => { if (text) into.preds[pairs[first + at]] = `${into.preds[pairs[first + at]]}${text}\n`.toLowerCase(); });
    yield number / (head.packs - 1);
  }
}

/** The command that shows a pair of a run again; null where the page was not made from files. */
function commandOf(id, run) {
  const command = head.commands[run];
  if (!command) return null;
  const named = command.some(word => word.includes("{id}"));
  const words = named ? command.map(word => word.replaceAll("{id}", () => id)) : [...command, id];
  return words.map(shellWord).join(" ");
}
