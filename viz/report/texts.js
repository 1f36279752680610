// The texts of both plans, with the places of edits highlighted.

const GOLD = 3; // where an edit says its place in gold; what is not there is marked only as the call that lacks it

/** The role of an edit's colour. */
function roleOfCode(code) {
  if (code.endsWith(".missing")) return "missing";
  if (code.endsWith(".extra") || code.endsWith(".unwanted")) return "extra";
  return code.startsWith("reference") ? "wrong" : "changed";
}

/** A plan in words, where its text says no more than that; with the places of its calls and arguments. */
function planText(plan) {
  const places = new Map(),
    nameOf = at => (plan.c[at] ? `${nameText(plan.c[at][0])} (call ${at + 1})` : `call ${at + 1}`);
  let text = "";
  const put = (key, words) => {
    places.set(key, [text.length, text.length + words.length]);
    text += words;
  };
  const calls = plan.a ? [...plan.c, ["answer", plan.a]] : plan.c;
  calls.forEach(([tool, given], at) => {
    const begin = text.length;
    text += `${nameText(tool)}(`;
    given.forEach(([name, value], nth) => {
      if (nth) text += ", ";
      put(`${at} ${name}`, rowText(name, value, nameOf));
    });
    text += ")\n";
    places.set(`${at} null`, [begin, text.length - 1]);
  });
  return { text: text.trimEnd(), places };
}

/** Python counts characters where JavaScript counts halves of some; positions as JavaScript counts. */
function inHalves(text, positions) {
  if (!/[\ud800-\udbff]/.test(text)) return positions;
  const wanted = [...new Set(positions)].sort((a, b) => a - b),
    found = new Map();
  let points = 0,
    halves = 0,
    next = 0;
  for (const character of text) {
    while (next < wanted.length && wanted[next] === points) found.set(wanted[next++], halves);
    points++;
    halves += character.length;
  }
  return positions.map(position => found.get(position) ?? halves);
}

/** The places of edits in a text: begin, end, role and the edit's number. */
function spansOf(text, edits, side, places) {
  const found = [];
  for (const [edit, at, place] of edits.flatMap((edit, at) =>
    placesOf(edit).map(both => [edit, at, both[side - GOLD]]),
  )) {
    if (!place) continue;
    const [begin, end] = places
      ? places.get(`${place[0]} ${place[1] ?? null}`) || places.get(`${place[0]} null`) || []
      : place.slice(2);
    const role = roleOfCode(edit[0]),
      lacks = edit[0].startsWith("argument.") && role === (side === GOLD ? "extra" : "missing");
    if (Number.isInteger(begin) && end > begin)
      found.push({ begin, end, at, role: lacks ? "here" : role, words: edit[1] });
  }
  if (places) return found;
  const halves = inHalves(
    text,
    found.flatMap(one => [one.begin, one.end]),
  );
  return found.map((one, at) => ({ ...one, begin: halves[2 * at], end: halves[2 * at + 1] }));
}

/** A text in pieces; where places lie in one another the smallest one's colour is seen. */
function highlighted(text, spans) {
  const edges = [...new Set([0, text.length, ...spans.flatMap(one => [one.begin, one.end])])]
    .filter(at => at <= text.length)
    .sort((a, b) => a - b);
  const nodes = [];
  for (let i = 1; i < edges.length; i++) {
    const said = visibleLines(text.slice(edges[i - 1], edges[i]));
    const over = spans
      .filter(one => one.begin < edges[i] && one.end > edges[i - 1])
      .sort((a, b) => a.end - a.begin - (b.end - b.begin));
    nodes.push(
      over.length
        ? el("mark", {
            class: over[0].role,
            title: visible(shortened(over[0].words, 300)),
            "data-edit": over[0].at,
            text: said,
          })
        : said,
    );
  }
  return nodes;
}

/** One plan's text under its heading; null where there is neither text nor plan. */
function textView(heading, text, plan, edits, side) {
  const listed = text === undefined || text === null ? plan && planText(plan) : null;
  if (!listed && (text === undefined || text === null)) return null;
  const said = listed ? listed.text : text,
    spans = spansOf(said, edits, side, listed && listed.places);
  return el(
    "section",
    { class: "text" },
    el("h4", { text: heading }),
    el(
      "pre",
      { dir: "auto", tabindex: "0", role: "group", "aria-label": heading },
      said ? highlighted(said, spans) : "(empty)",
    ),
  );
}

/** The question, or the turns of a conversation. */
function questionView(q) {
  if (!q || !q.length) return null;
  if (typeof q === "string")
    return el(
      "section",
      { class: "question" },
      el("h3", { text: "Question" }),
      el("p", { dir: "auto", class: "prose", text: prose(q) }),
    );
  return el(
    "section",
    { class: "question" },
    el("h3", { text: "Conversation" }),
    el(
      "ol",
      { class: "turns" },
      q.map(turn =>
        el(
          "li",
          { class: turn.role === "user" ? "user" : "other" },
          foreign(turn.role, { class: "role" }),
          el("p", { dir: "auto", class: "prose", text: prose(turn.text) }),
        ),
      ),
    ),
  );
}

const PIECES = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

/** Of two texts in a sentence, the words that one of them does not share at its beginning or end are marked. */
function sentence(words) {
  const found = /"((?:[^"\\]|\\.)*)("?…?), gold (?:gives )?…?"((?:[^"\\]|\\.)*)"?/.exec(words);
  if (!found) return [visible(words)];
  const one = found[1].match(PIECES) || [],
    other = found[3].match(PIECES) || [],
    most = Math.min(one.length, other.length);
  let begin = 0,
    end = 0;
  while (begin < most && one[begin] === other[begin]) begin++;
  while (end < most - begin && one.at(-1 - end) === other.at(-1 - end)) end++;
  if (!begin && !end) return [visible(words)];
  const at = found.index + 1,
    second = words.indexOf(found[3], at + found[1].length + found[2].length + 1);
  const parts = [];
  let done = 0;
  for (const [from, pieces] of [
    [at, one],
    [second, other],
  ]) {
    const start = from + pieces.slice(0, begin).join("").length,
      stop = from + pieces.slice(0, pieces.length - end).join("").length;
    parts.push(visible(words.slice(done, start)));
    if (stop > start) parts.push(el("mark", { text: visible(words.slice(start, stop)) }));
    done = Math.max(stop, start);
  }
  return [...parts, visible(words.slice(done))];
}
