// A conversation: its messages folded, each call in its place with gold's beside it, the first wrong one marked.

const ROLES = ["user", "assistant", "tool", "system"];
const FOLDED = ["tool", "system"];
const MOST_UNFOLDED = 280;

/** A call in words. */
function callText([tool, given], plan) {
  const nameOf = at => (plan && plan.c[at] ? `${nameText(plan.c[at][0])} (call ${at + 1})` : `call ${at + 1}`);
  return `${nameText(tool)}(${given.map(([name, value]) => rowText(name, value, nameOf)).join(", ")})`;
}

/** What a message says: folded where it is long, or no person's or model's. */
function messageText(role, text) {
  const said = () => el("p", { dir: "auto", class: "prose", text: prose(text) });
  if (!text) return null;
  if (!FOLDED.includes(role) && text.length <= MOST_UNFOLDED) return said();
  const line = shortened(text.replace(/\s+/g, " ").trim(), 110);
  return el("details", null, el("summary", null, foreign(line)), said());
}

/** What became of each call of the prediction, and under which of them gold's missing calls stand. */
function callVerdicts(side) {
  const partner = new Map(side.aligned.map(([gold, pred]) => [pred, gold]));
  const marks = new Map(), missing = new Map(), roots = [];
  side.edits.forEach((edit, at) => {
    for (const [gold, pred] of placesOf(edit)) {
      if (pred && pred[0] !== null && !marks.has(pred[0])) marks.set(pred[0], edit);
      if (edit[0] === "call.missing" && gold && gold[0] !== null) missing.set(gold[0], at);
    }
    const [, pred] = placesOf(edit)[0];
    if (edit[2] < 0 && pred && pred[0] !== null) roots.push(pred[0]);
  });
  const after = new Map();
  let last = -1;
  (side.gold ? side.gold.c : []).forEach((call, gold) => {
    const pred = [...partner].find(([, other]) => other === gold);
    if (pred) last = pred[0];
    else if (missing.has(gold)) after.set(last, [...(after.get(last) || []), call]);
  });
  return { partner, marks, after, first: roots.length ? Math.min(...roots) : null };
}

const markedCall = (kind, sign, words, text, note) =>
  el("li", { class: `talk-call ${kind}` },
    el("span", { class: "sign", role: "img", "aria-label": words, title: words, text: sign }),
    el("code", { dir: "auto", text }),
    note && el("span", { class: "first-mistake", text: note }));

/** A call where it was made: what is right, or what gold has in its place. */
function callView(call, side, verdicts) {
  if (typeof call !== "number") return markedCall("free", "·", "does not count", callText(call, null));
  const edit = verdicts.marks.get(call), own = side.plan && side.plan.c[call];
  if (!own) return null;
  const first = call === verdicts.first ? "first wrong call" : null;
  const gold = verdicts.partner.has(call) && side.gold ? side.gold.c[verdicts.partner.get(call)] : null;
  const views = !edit
    ? [markedCall("kept", "✓", "as gold has it", callText(own, side.plan))]
    : [markedCall(gold ? "changed" : "extra", "✗", edit[0], callText(own, side.plan), first),
       gold && markedCall("gold", "↳", "gold", `gold: ${callText(gold, side.gold)}`)];
  return [...views, ...missingViews(verdicts.after.get(call), side)];
}

const missingViews = (calls, side) =>
  (calls || []).map(call => markedCall("missing", "−", "missing", `gold: ${callText(call, side.gold)}`));

/** The conversation of one run; null where the prediction is none. */
function talkView(side) {
  if (!side.talk || !side.talk.m) return null;
  const verdicts = callVerdicts(side), turns = side.talk.turns;
  let turn = 0, placed = false;
  const items = side.talk.m.map(([role, number, text, calls]) => {
    const begins = number !== turn && turns && turns.unit === "turn";
    turn = number;
    const wrong = begins && turns.wrong.includes(number);
    const heading = begins && el("li", { class: `talk-turn${wrong ? " wrong" : ""}` },
      `Turn ${number} of ${turns.total}`,
      wrong && el("span", { class: "muted", text: number === turns.first ? "first wrong turn" : turns.follow.includes(number) ? "follows from the first wrong turn" : "wrong" }));
    const views = (calls || []).flatMap(call => callView(call, side, verdicts) || []);
    const isFirst = (calls || []).includes(verdicts.first);
    placed = placed || isFirst;
    return [heading || null, el("li", { class: `talk-message ${ROLES[role]}${isFirst ? " first-wrong" : ""}` },
      el("span", { class: "role", text: ROLES[role] }),
      messageText(ROLES[role], text),
      views.length > 0 && el("ul", { class: "talk-calls" }, views))];
  });
  const never = missingViews(verdicts.after.get(-1), side);
  return el("section", { class: "talk" },
    el("h3", { text: "Conversation" }),
    side.talk.said && el("p", { dir: "auto", text: visible(side.talk.said) }),
    el("ol", null, items),
    side.talk.more > 0 && el("p", { class: "muted", text: `${plural(side.talk.more, "more message")}, not shown` }),
    never.length > 0 && el("div", null, el("h4", { text: "Gold's calls that the prediction never makes" }), el("ul", { class: "talk-calls" }, never)));
}
