// Two plans laid over one another: boxes, rows and arrows with the roles that the drawings of planeval have.

const SIGNS = {
  kept: "",
  plain: "",
  missing: "−",
  extra: "+",
  changed: "~",
  wrong: "!",
  ok: "✓",
  failed: "✗",
  skipped: "…",
};
const MEANINGS = {
  kept: "in both plans",
  missing: "in gold only",
  extra: "in the prediction only",
  changed: "in both, not alike",
  wrong: "gold takes another output",
};
const SPECIAL = ["$", "?", "~", "#", "{"];

/** What an object of a value stands for: one of SPECIAL, or nothing. */
function kindOf(value) {
  const keys = Object.keys(value);
  return keys.length === 1 && SPECIAL.includes(keys[0]) ? keys[0] : "";
}

const way = path =>
  path
    .map(step => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
const outputOf = (name, path) => (path.length ? `${name}${typeof path[0] === "number" ? "" : "."}${way(path)}` : name);

/** A value as JSON on one line, references as ← producer.output, as planeval's drawings write it. */
function valueText(value, nameOf) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(one => valueText(one, nameOf)).join(", ")}]`;
  const fields = object =>
    `{${Object.entries(object)
      .map(([key, one]) => `${JSON.stringify(key)}: ${valueText(one, nameOf)}`)
      .join(", ")}}`;
  switch (kindOf(value)) {
    case "$":
      return `← ${outputOf(nameOf(value.$[0]), value.$[1] || [])}`;
    case "?":
      return `← ?${Array.isArray(value["?"]) ? outputOf(value["?"][0], value["?"][1] || []) : value["?"]}`;
    case "#":
      return String(value["#"]);
    case "{":
      return fields(value["{"]);
    case "~":
      return `"${value["~"].map(part => templatePart(part, nameOf)).join("")}"`;
    default:
      return fields(value);
  }
}

const templatePart = (part, nameOf) =>
  typeof part === "string" ? JSON.stringify(part).slice(1, -1) : `{${valueText(part, nameOf)}}`;

function rowText(name, value, nameOf) {
  const said = valueText(value, nameOf),
    shown = nameText(name);
  return visible(said.startsWith("←") ? `${shown} ${said}` : `${shown} = ${said}`);
}

/** The references of a value, each with the way to it; a way ends at a template, whose parts have no names. */
function references(value, at = [], inside = false, found = []) {
  if (value === null || typeof value !== "object") return found;
  const deeper = (one, step) => references(one, inside ? at : [...at, step], inside, found);
  const kind = Array.isArray(value) ? "" : kindOf(value);
  if (kind === "$") found.push({ producer: value.$[0], path: value.$[1] || [], at });
  else if (kind === "~") value["~"].forEach(part => references(part, at, true, found));
  else if (kind === "{") Object.entries(value["{"]).forEach(([key, one]) => deeper(one, key));
  else if (Array.isArray(value)) value.forEach(deeper);
  else if (!kind) Object.entries(value).forEach(([key, one]) => deeper(one, key));
  return found;
}

const arrowLabel = (edge, argument) => `${visible(way(edge.path))} → ${nameText(outputOf(argument, edge.at))}`.trim();

function placeWords(pred, gold) {
  if (pred === null) return `gold's call ${gold + 1}`;
  return gold === null || gold === pred ? `call ${pred + 1}` : `call ${pred + 1}, gold's ${gold + 1}`;
}

/** Calls as the prediction writes them; what it lacks stands behind the partner of gold's call before. */
function writtenOrder(gold, pred, aligned) {
  const ofGold = new Map(aligned),
    after = new Map();
  let before = null;
  gold.c.forEach((_, g) => {
    if (ofGold.has(g)) before = ofGold.get(g);
    else after.set(before, [...(after.get(before) || []), { pred: null, gold: g }]);
  });
  const ofPred = new Map(aligned.map(([g, p]) => [p, g]));
  const written = pred.c.map((_, p) => [{ pred: p, gold: ofPred.get(p) ?? null }, ...(after.get(p) || [])]);
  return [...(after.get(null) || []), ...written.flat()];
}

/** Values of a call by name and by how often the name came before. */
function keyed(given) {
  const seen = new Map();
  return new Map(
    given.map(([name, value]) => {
      const nth = seen.get(name) || 0;
      seen.set(name, nth + 1);
      return [`${nth} ${name}`, { name, value }];
    }),
  );
}

/** One plan alone. */
function planScene(plan) {
  return overlay({ c: [] }, plan, [], [], "plain");
}

/** Two plans over one another; `alone` is the role of calls that only the prediction has. */
function overlay(gold, pred, aligned, edits, alone = "extra") {
  const calls = writtenOrder(gold, pred, aligned);
  if (gold.a || pred.a) calls.push({ pred: pred.c.length, gold: gold.c.length, answer: true });
  const made = { gold, pred, edits, alone, calls, boxes: [], arrows: [], ofPred: new Map(), ofGold: new Map() };
  calls.forEach((call, at) => {
    if (call.pred !== null) made.ofPred.set(call.pred, at);
    if (call.gold !== null) made.ofGold.set(call.gold, at);
  });
  made.touched = touchedBy(edits, pred, gold);
  nameCalls(made);
  calls.forEach((call, at) => addBox(made, call, at));
  markMistakes(made);
  return { boxes: made.boxes, arrows: made.arrows, summary: summaryOf(made), ofPred: made.ofPred, ofGold: made.ofGold };
}

/** All places that an edit concerns, in gold and in the prediction. */
const placesOf = edit => [[edit[3], edit[4]], ...(edit[5] || [])];

function touchedBy(edits, pred, gold) {
  const found = { pred: new Set(), gold: new Set(), changed: new Set(), renamed: new Map(), early: new Set() };
  for (const [code, g, p] of edits.flatMap(edit => placesOf(edit).map(place => [edit[0], ...place]))) {
    const ours = p && `${p[0] ?? pred.c.length} ${p[1]}`,
      theirs = g && `${g[0] ?? gold.c.length} ${g[1]}`;
    if (p) found.pred.add(ours);
    if (g) found.gold.add(theirs);
    if (p && g) found.changed.add(g[0] ?? gold.c.length);
    if (code.endsWith(".renamed") && p && g) found.renamed.set(ours, g[1] || "");
    if (code === "order.broken" && p) found.early.add(p[0]);
  }
  return found;
}

/** Names of calls in references: by tool, with the number where several calls have that tool. */
function nameCalls(made) {
  const uses = new Map(),
    toolAt = at => made.boxTools[at];
  made.boxTools = made.calls.map(({ pred, gold, answer }) =>
    answer ? "answer" : pred !== null ? made.pred.c[pred][0] : made.gold.c[gold][0],
  );
  for (const tool of made.boxTools) uses.set(tool, (uses.get(tool) || 0) + 1);
  const several = at => uses.get(toolAt(at)) > 1;
  made.predName = p => {
    const at = made.ofPred.get(p);
    if (at === undefined) return `call ${p + 1}`;
    return nameText(toolAt(at)) + (several(at) ? ` (call ${p + 1})` : "");
  };
  made.goldName = g => {
    const at = made.ofGold.get(g),
      own = made.gold.c[g];
    if (at === undefined || !own) return `gold's call ${g + 1}`;
    if (own[0] !== toolAt(at)) return nameText(own[0]);
    return nameText(own[0]) + (several(at) ? ` (gold's call ${g + 1})` : "");
  };
}

function addBox(made, call, at) {
  const { answer } = call,
    tool = made.boxTools[at];
  const ours = answer ? made.pred.a : call.pred !== null && made.pred.c[call.pred][1];
  const theirs = answer ? made.gold.a : call.gold !== null && made.gold.c[call.gold][1];
  const box = {
    tool,
    title: nameText(tool),
    rows: [],
    gold: "",
    mark: "",
    place: answer ? "" : placeWords(call.pred, call.gold),
  };
  if (ours && theirs) {
    const other = !answer && made.gold.c[call.gold][0] !== tool ? nameText(made.gold.c[call.gold][0]) : "";
    box.gold = other;
    addRows(made, box, call, at, ours, theirs);
    const same =
      !other && box.rows.every(row => row.role === "kept") && !(made.touched.changed.has(call.gold) && !answer);
    box.role = same ? "kept" : "changed";
  } else {
    box.role = ours ? made.alone : "missing";
    const nameOf = ours ? made.predName : made.goldName;
    for (const [name, value] of ours || theirs || []) {
      box.rows.push({ role: box.role, text: rowText(name, value, nameOf), gold: "" });
      for (const edge of references(value)) addArrow(made, edge, name, ours ? made.ofPred : made.ofGold, at, box.role);
    }
  }
  made.boxes.push(box);
}

function addArrow(made, edge, argument, places, head, role) {
  const tail = places.get(edge.producer);
  if (tail !== undefined) made.arrows.push({ tail, head, role, label: arrowLabel(edge, argument) });
}

/** The arguments of a call that both have: the prediction's, then what gold has besides. */
function addRows(made, box, call, at, ours, theirs) {
  const here = keyed(ours),
    there = keyed(theirs),
    { touched } = made,
    taken = new Set();
  for (const [key, { name, value }] of here) {
    const mine = `${call.pred} ${name}`,
      text = rowText(name, value, made.predName);
    const other = touched.renamed.has(mine) ? touched.renamed.get(mine) : null;
    const wanted = other === null ? there.get(key) : [...there.values()].find(one => one.name === other);
    if (other !== null) taken.add(other);
    if (!touched.pred.has(mine) && !touched.gold.has(`${call.gold} ${name}`)) {
      box.rows.push({ role: "kept", text, gold: "" });
      for (const edge of references(value)) addArrow(made, edge, name, made.ofPred, at, "kept");
      continue;
    }
    const wrong = addTouched(made, at, name, value, wanted && wanted.value);
    if (other !== null) box.rows.push({ role: "changed", text, gold: `gold's name: ${nameText(other)}` });
    else if (!wanted) box.rows.push({ role: "extra", text, gold: "" });
    else
      box.rows.push({
        role: wrong ? "wrong" : "changed",
        text,
        gold: visible(`gold: ${valueText(wanted.value, made.goldName)}`),
      });
  }
  for (const [key, { name, value }] of there) {
    if (here.has(key) || taken.has(name)) continue;
    const role = touched.gold.has(`${call.gold} ${name}`) ? "missing" : "kept";
    box.rows.push({ role, text: rowText(name, value, made.goldName), gold: "" });
    for (const edge of references(value)) addArrow(made, edge, name, made.ofGold, at, role);
  }
  if (touched.early.has(call.pred))
    box.rows.push({ role: "changed", text: "written before a call that it needs", gold: "" });
}

/** The arrows of an argument that an edit is about; whether a reference of it is a wrong one. */
function addTouched(made, at, name, value, wanted) {
  const left = new Map(wanted === undefined ? [] : references(wanted).map(edge => [JSON.stringify(edge.at), edge]));
  let wrong = JSON.stringify(value).includes('{"?":');
  for (const edge of references(value)) {
    const key = JSON.stringify(edge.at),
      other = left.get(key);
    const same =
      other &&
      made.ofPred.get(edge.producer) === made.ofGold.get(other.producer) &&
      JSON.stringify(edge.path) === JSON.stringify(other.path);
    addArrow(made, edge, name, made.ofPred, at, same ? "kept" : other ? "wrong" : "extra");
    if (other && !same) {
      wrong = true;
      addArrow(made, other, name, made.ofGold, at, "missing");
    }
    left.delete(key);
  }
  for (const edge of left.values()) addArrow(made, edge, name, made.ofGold, at, "missing");
  return wrong;
}

/** The box that an edit is about. */
function boxOf(scene, [, , , gold, pred], ends) {
  if (pred) return scene.ofPred.get(pred[0] ?? ends.pred.c.length) ?? -1;
  return gold ? (scene.ofGold.get(gold[0] ?? ends.gold.c.length) ?? -1) : -1;
}

/** Each box with a mistake says whether that is the first, a cause, or follows from another. */
function markMistakes(made) {
  const places = made.edits.map(edit => boxOf(made, edit, made)),
    root = [];
  let first = true;
  made.edits.forEach((edit, at) => {
    root.push(edit[2] < 0 ? at : (root[edit[2]] ?? at));
    const box = made.boxes[places[at]];
    if (!box || edit[2] >= 0) return;
    box.mark ||= first ? "first mistake" : "cause";
    first = false;
  });
  made.edits.forEach((_, at) => {
    const box = made.boxes[places[at]],
      cause = made.boxes[places[root[at]]];
    if (box && cause) box.mark ||= `follows from ${cause.title}${cause.place && ` (${cause.place})`}`;
  });
}

function summaryOf(made) {
  if (!made.boxes.length) return "no calls in either plan";
  const calls = {};
  for (const box of made.boxes) calls[box.role] = (calls[box.role] || 0) + 1;
  if (calls.plain) return plural(made.boxes.length, "call");
  const wrong = made.arrows.filter(arrow => arrow.role === "wrong").length;
  if (made.arrows.every(arrow => arrow.role === "kept") && Object.keys(calls).every(role => role === "kept"))
    return "the same plan";
  const parts = ["kept", "changed", "missing", "extra"]
    .filter(role => calls[role])
    .map(role => `${calls[role]} ${role}`);
  return `calls: ${parts.join(", ")}${wrong ? `; wrong references: ${wrong}` : ""}`;
}
