// What a benchmark says: its figures in both columns, and of a record its verdicts, what is accepted, its turns.

const variants = head.runs[0].variants || null; // null where the page is of pairs and figures of our own
const UNIT = variants ? "record" : "pair";
const MARKS_SHOWN = { ok: "✓", wrong: "✗", "": "" };
const MARK_WORDS = { ok: "right", wrong: "wrong" };

/** A name as a link to the records that have it as the value of a field, where there is one such field. */
function valueLink(name) {
  const facets = all.facets.filter(one => one.key.startsWith("f.") && one.names.includes(name));
  if (facets.length !== 1) return foreign(nameText(name));
  return el("a", { href: addressOf({ fields: { [facets[0].key.slice(2)]: name } }) }, foreign(nameText(name)));
}

/** The benchmark's figures, a row each, in every column that was scored. */
function scoresCard(run) {
  if (!variants || !run.scores.length) return null;
  const isShare = (row, variant) => typeof row[variant] === "number" && row[variant] <= 1 && row[`${variant} shown`].includes(".");
  const axis = run.scores.some(row => variants.some(variant => isShare(row, variant)));
  const heads = [["figure"], ...(axis ? [axisHead("0", "1")] : []), ...variants.map(variant => [variant, "number"])];
  const line = row => {
    const marked = variants.map(variant => ({ value: isShare(row, variant) ? row[variant] : null }));
    return el(
      "tr",
      null,
      rowHead(
        valueLink(row.figure),
        run.lower.includes(row.figure) && el("span", { class: "lower", title: "less is better", role: "img", "aria-label": "less is better", text: "↓" }),
        row.note && el("p", { class: "muted note" }, foreign(row.note)),
      ),
      axis && cell("axis", marked.some(one => one.value !== null) && intervalMark(marked, 1)),
      variants.map(variant =>
        el(
          "td",
          { class: "number", title: typeof row[variant] === "number" ? String(row[variant]) : null },
          el("span", { class: "strong", text: visible(row[`${variant} shown`]) }),
          row[`${variant} of`] && el("span", { class: "muted counts", text: row[`${variant} of`] }),
        ),
      ),
    );
  };
  return card(
    "Figures",
    "",
    table("figures scores", heads, run.scores.map(line)),
    run.difference && el("p", { class: "muted caption" }, `Where the columns differ: `, foreign(run.difference)),
  );
}

const MOST_LISTED = 200;
const cellText = (value, whole) => (typeof value === "number" ? (whole ? count(value) : value.toFixed(4)) : foreign(value ?? ""));

/** The paper's further tables. */
const tableCards = run =>
  (variants ? run.tables : []).map(({ title, heads, rows }) =>
    card(
      visible(title),
      "",
      table(
        "further",
        heads.map((name, at) => [foreign(name), rows.every(row => typeof row[at] === "number") ? "number" : ""]),
        rows.slice(0, MOST_LISTED).map(row =>
          el("tr", null, row.map((value, at) =>
            at ? cell(typeof value === "number" ? "number" : "muted", cellText(value, rows.every(other => Number.isInteger(other[at] ?? 0))))
              : rowHead(valueLink(String(value ?? ""))))),
        ),
      ),
    ),
  );

/** The verdict of each column with its error, message and figures. */
function verdictsView(verdicts) {
  if (!verdicts) return null;
  const figure = ([name, value, of]) =>
    el("li", null, foreign(name, { class: "muted" }), " ", foreign(typeof value === "number" ? figureText(value) : value), of && el("span", { class: "muted", text: ` ${of}` }));
  return el(
    "section",
    { class: "verdicts" },
    el("h3", { text: "Verdicts" }),
    verdicts.map(({ variant, ok, error, message, figures }, at) =>
      el(
        "div",
        { class: "verdict" },
        el("p", null, el("b", { text: variant }), " ", el("span", { class: `chip ${ok ? "right" : "wrong"}`, text: ok ? "right" : "wrong" }),
          error && (at && error === verdicts[0].error
            ? el("span", { class: "muted", text: "for the same error" })
            : el("span", { dir: "auto", class: "words", text: visibleLines(error) }))),
        message && el("pre", { dir: "auto", tabindex: "0", role: "group", "aria-label": "Message in full", text: visibleLines(message) }),
        figures.length > 0 && el("ul", { class: "record-figures" }, figures.map(figure)),
      ),
    ),
  );
}

const markView = mark => el("span", { class: `mark ${mark}`, role: mark ? "img" : null, "aria-label": MARK_WORDS[mark], text: MARKS_SHOWN[mark] });

/** Rows of a mark and cells; a row of one cell is about all that follow. */
function markedRows(heads, rows) {
  const line = ([mark, ...cells]) =>
    cells.length === 1
      ? el("tr", { class: "about" }, el("th", { scope: "rowgroup", colspan: heads.length + 1 }, foreign(cells[0]), " ", markView(mark)))
      : el("tr", { class: mark }, rowHead(foreign(cells[0])), cells.slice(1).map(text => cell("value-cell", foreign(text))), cell("", markView(mark)));
  return table("accepted", [...heads.map(text => [text]), [""]], rows.map(line));
}

/** A turn: what was asked, what was called or said, what was expected, what is wrong. */
function turnView({ title, mark, steps, asked, accepted, notes }) {
  const listed = (words, texts) =>
    el("div", { class: "steps" }, el("h4", { text: words }),
      texts.length
        ? el("ol", null, texts.map(([kind, text]) => el("li", { class: kind }, kind === "call" ? el("code", { dir: "auto", text: visible(text) }) : el("p", { dir: "auto", class: "prose", text: prose(text) }))))
        : el("p", { class: "muted", text: "nothing" }));
  return el(
    "li",
    { class: `turn ${mark}` },
    el("h4", null, foreign(title), " ", markView(mark)),
    asked.map(text => el("p", { dir: "auto", class: "prose asked", text: prose(text) })),
    notes.length > 0 && el("ul", { class: `turn-notes ${mark}` }, notes.map(text => el("li", null, foreign(text)))),
    el("div", { class: "called-accepted" }, listed("called", steps), accepted && listed("accepted", accepted.map(text => ["call", text]))),
  );
}

/** What else a benchmark shows of a record. */
const sectionsView = sections =>
  (sections || []).map(({ title, text, heads, rows, turns }) =>
    el(
      "section",
      null,
      el("h3", { text: title }),
      rows && (rows.length ? markedRows(heads, rows) : el("p", { class: "muted", text: "nothing" })),
      text !== undefined && el("pre", { dir: "auto", tabindex: "0", role: "group", "aria-label": title, text: visibleLines(text) }),
      turns && el("ol", { class: "record-turns" }, turns.map(turnView)),
    ),
  );
