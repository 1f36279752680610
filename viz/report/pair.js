// One pair: what was asked, what differs and why, the two plans over one another, both texts, the run.

const pane = { k: -1, node: null, width: 800 }; // the width is kept: asking would lay out the page anew

/** What detail(k) says of one run. */
function sideOf(found, which) {
  const b = which === "b" ? "b" : "";
  return {
    name: two ? head.runs[which === "b" ? 1 : 0].name : "",
    letter: two ? which.toUpperCase() : "",
    gold: (b && found.gb) || found.g || null,
    plan: found[`p${b}`] || null,
    edits: found[`e${b}`] || [],
    aligned: found[`al${b}`] || [],
    text: found[`pt${b}`],
    error: found[`error${b}`],
    repairs: found[`repairs${b}`] || [],
    structure: found[`s${b}`],
    run: found[`ex${b}`],
    raw: found[`raw${b}`],
    talk: found[`talk${b}`],
  };
}

/** Edits as lists in lists: what follows from another stands under it. */
function editList(edits, whose) {
  const under = new Map();
  edits.forEach(([, , cause], at) => under.set(cause, [...(under.get(cause) || []), at]));
  const listed = cause => {
    const here = under.get(cause) || [];
    return here.length
      ? el(
          "ol",
          { class: cause < 0 ? "edits" : "follows" },
          here.map(at =>
            el(
              "li",
              { "data-edit": at },
              el("button", {
                type: "button",
                class: `code ${roleOfCode(edits[at][0])}`,
                title: "pairs with this difference",
                text: edits[at][0],
                on: { click: () => go({ ...toggled("code", edits[at][0]), ...whose }) },
              }),
              " ",
              el("span", { dir: "auto", class: "words" }, sentence(withoutCode(edits[at]))),
              at === 0 && edits.length > 1 && el("span", { class: "first-mistake", text: "first mistake" }),
              listed(at),
            ),
          ),
        )
      : null;
  };
  return listed(-1);
}
const withoutCode = ([code, words]) => (words.startsWith(`${code}: `) ? words.slice(code.length + 2) : words);

/** The drawing of one run's plan against gold. */
function drawingOf(side) {
  if (side.plan && side.gold) return overlay(side.gold, side.plan, side.aligned, side.edits);
  const plan = side.plan || side.gold;
  if (!plan) return null;
  const scene = planScene(plan);
  if (!side.plan) scene.summary = `gold's plan alone: ${scene.summary}; there is no prediction that could be drawn`;
  else scene.summary = `the prediction alone: ${scene.summary}`;
  return scene;
}

/** Values and failures of a run beside one another, a row a call. */
function runView(side) {
  if (!side.run) return null;
  const rows = [
    ["p", side.plan, "prediction"],
    ["g", side.gold, "gold"],
  ].filter(([key, plan]) => side.run[key] && plan);
  const line = (words, plan, [status, text], at) =>
    el(
      "tr",
      { class: status },
      cell("", words),
      cell("", foreign(`${at + 1} ${plan.c[at] ? nameText(plan.c[at][0]) : ""}`)),
      cell("", el("span", { class: "sign", text: SIGNS[status] || "" }), ` ${status}`),
      cell("", foreign(text || "")),
    );
  return el(
    "section",
    null,
    el("h3", { text: "Results of the calls" }),
    side.run.said && el("p", { dir: "auto", text: visible(side.run.said) }),
    table(
      "run",
      [["plan"], ["call"], ["outcome"], ["value or failure"]],
      rows.flatMap(([key, plan, words]) => side.run[key].map((one, at) => line(words, plan, one, at))),
    ),
  );
}

/** Everything about one run of a pair. */
function sideView(found, side, across) {
  const scene = drawingOf(side),
    parts = [],
    under = (title, ...shown) => el("section", null, el("h3", { text: title }), shown);
  const drawn =
    side.plan && side.gold ? "Both plans in one drawing" : side.plan ? "The prediction" : "Gold's plan";
  if (side.letter)
    parts.push(el("h3", { class: "run-name" }, el("b", { class: "letter", text: side.letter }), foreign(side.name)));
  if (side.error) parts.push(errorView(side.error));
  if (side.repairs.length)
    parts.push(
      under(
        "Repairs",
        el(
          "ul",
          null,
          side.repairs.map(one => el("li", null, foreign(one))),
        ),
      ),
    );
  if (side.edits.length) parts.push(under(plural(side.edits.length, "difference"), editList(side.edits, side.letter ? { of: side.letter.toLowerCase() } : {})));
  if (side.structure) parts.push(el("p", { class: "structure", dir: "auto", text: visible(side.structure) }));
  if (scene) parts.push(under(drawn, sceneView(scene, across)));
  const talk = talkView(side);
  if (talk) parts.push(talk);
  const view = el("div", { class: "side" }, parts, runView(side));
  if (scene) linkEdits(view, scene, side);
  return view;
}

function errorView(text) {
  const given = { class: "error", dir: "auto", tabindex: "0", role: "group", "aria-label": "Why it could not be read" };
  return el("pre", { ...given, text: visibleLines(text) });
}

/** Pointing at an edit shows its box, and the other way round. */
function linkEdits(view, scene, side) {
  const ends = { pred: side.plan || { c: [] }, gold: side.gold || { c: [] } };
  const boxes = side.edits.map(edit => boxOf(scene, edit, ends));
  const light = (selector, on) => view.querySelectorAll(selector).forEach(node => node.classList.toggle("lit", on));
  for (const item of view.querySelectorAll("li[data-edit]")) {
    const selector = `g[data-box="${boxes[item.dataset.edit]}"]`;
    for (const [event, on] of [
      ["pointerenter", true],
      ["pointerleave", false],
      ["focusin", true],
      ["focusout", false],
    ]) {
      item.addEventListener(event, () => light(selector, on));
    }
  }
}

/** The text of gold; of two runs one for each where their differences lie in two of its answers. */
function goldTexts(found, sides) {
  if (sides.length > 1 && found.gb) {
    return sides.map(side =>
      textView(`Gold nearest to ${side.letter}`, side.letter === "B" ? found.gtb : found.gt, side.gold, side.edits, 3),
    );
  }
  const told = sides.find(side => side.edits.length) || sides[0];
  return [
    textView(
      two && told.edits.length ? `Gold, with what ${told.letter} has otherwise` : "Gold",
      found.gt,
      found.g,
      told.edits,
      3,
    ),
  ];
}

function textsView(found, sides) {
  const parts = [
    ...sides.flatMap(side => {
      const of = side.letter ? ` of ${side.letter}` : "",
        mended = side.repairs.length > 0 && side.plan && side.text !== undefined;
      return [
        textView(`Prediction${of}${mended ? ", as it came" : ""}`, side.text, side.plan, side.edits, 4),
        mended ? textView(`Prediction${of}, as it was mended`, null, side.plan, side.edits, 4) : null,
      ];
    }),
    ...goldTexts(found, sides),
    ...sides
      .filter(side => side.raw)
      .map(side => textView(side.letter ? `Raw reply of ${side.letter}` : "Raw reply", side.raw, null, [], 4)),
  ].filter(Boolean);
  return parts.length ? el("section", null, el("h3", { text: "Texts" }), el("div", { class: "texts" }, parts)) : null;
}

function pairTools(k) {
  const id = idOf(k),
    place = list.at >= 0 ? `${count(list.at + 1)} of ${count(list.found.length)}` : "not among those found";
  const commands = head.runs.map((_, run) => commandOf(id, run));
  return el(
    "div",
    { class: "pair-tools" },
    el("button", {
      type: "button",
      class: "plain close",
      "aria-label": `Close this ${UNIT}`,
      title: "Close (Esc)",
      text: "✕",
      on: { click: closePair },
    }),
    el("button", {
      type: "button",
      class: "plain",
      "aria-label": `Previous ${UNIT}`,
      title: `Previous ${UNIT} (k)`,
      text: "↑",
      disabled: list.at === 0,
      on: { click: () => step(-1) },
    }),
    el("button", {
      type: "button",
      class: "plain",
      "aria-label": `Next ${UNIT}`,
      title: `Next ${UNIT} (j)`,
      text: "↓",
      disabled: list.at >= 0 && list.at === list.found.length - 1,
      on: { click: () => step(1) },
    }),
    el("span", { class: "muted place", text: place }),
    copyButton("copy link", () => location.href.split("#")[0] + writeState({ ...readState(""), view: "pairs", id })),
    commands.map(
      (command, run) =>
        command && copyButton(`copy command${two ? ` of ${LETTER[run]}` : ""}`, () => command, { title: visible(command) }),
    ),
  );
}

function closePair() {
  go({ id: null });
  list.scroller.focus({ preventScroll: true });
}

function fieldsOf(k) {
  const named = Object.entries(all.fields || {}).filter(([, column]) => column[k] >= 0);
  return named.length
    ? el(
        "ul",
        { class: "fields", "aria-label": "Fields" },
        named.map(([name, column]) => {
          const value = all.strings[column[k]];
          return el(
            "li",
            null,
            el(
              "button",
              {
                type: "button",
                class: "field",
                title: "pairs that are alike in this",
                on: { click: () => go(toggled(`f.${name}`, value)) },
              },
              foreign(name, { class: "muted" }),
              " ",
              foreign(value),
            ),
          );
        }),
      )
    : null;
}

/** The header of a pair stands at once; what has to be unpacked follows. */
async function showPair(k) {
  const begun = performance.now();
  pane.k = k;
  const found = await detail(k);
  if (pane.k !== k) return;
  const sides = (two ? RUN_KEYS : ["a"]).map(which => sideOf(found, which));
  const unit = list.row / ROW / LETTER_HEIGHT;
  const across = Math.max(240, (two && pane.width > 900 ? pane.width / 2 - 24 : pane.width) / unit);
  if (pane.node.scrollTop) pane.node.scrollTop = 0; // before the change, for after it this would lay out the page
  pane.node.replaceChildren(
    ...[
      el(
        "header",
        null,
        pairTools(k),
        el("h2", { id: "pair-id", tabindex: "-1" }, foreign(idOf(k))),
        el(
          "p",
          { class: "chips" },
          head.runs.map((_, run) => [
            stateChip(run ? stateOfB(k) : stateOf(k), two && LETTER[run]),
            scoreOf(k, run) >= 0 && el("span", { class: "muted", title: ALIKE, text: `${alikeText(k, run)} of calls alike` }),
          ]),
          two && whoOf(k) && el("span", { class: `chip who ${whoOf(k)}`, text: WHO_WORDS[whoOf(k)] }),
        ),
      ),
      fieldsOf(k),
      questionView(found.q),
      verdictsView(found.verdicts),
      sectionsView(found.sections),
      el(
        "div",
        { class: two ? "sides" : "one" },
        sides.map(side => sideView(found, side, across)),
      ),
      textsView(found, sides),
    ].flat().filter(Boolean),
  );
  performance.measure("pair", { start: begun, end: performance.now() });
  say(`${visible(idOf(k))}: ${stateWords(stateOf(k))}`);
}

function showNoPair(words) {
  pane.k = -1;
  pane.node.replaceChildren(el("p", { class: "empty", text: words }));
}
