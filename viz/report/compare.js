// Two runs beside one another: the verdict, paired figures, who is right, on what, and the flips themselves.

const FLIPS_SHOWN = 40;

/** Pairs by who is right. */
function whoCounts() {
  const facet = all.facets.find(one => one.key === "who"),
    found = { both: [], a: [], b: [], neither: [] };
  for (let k = 0; k < all.n; k++) {
    const at = facet.begins[k];
    if (at < facet.begins[k + 1]) found[facet.names[facet.flat[at]]].push(k);
  }
  return found;
}

/** Right and wrong of A against right and wrong of B; each cell shows its pairs. */
function quadrants(found) {
  const sum = Object.values(found).reduce((n, ks) => n + ks.length, 0) || 1;
  const cell = who => {
    const link = el(
      "a",
      { class: `quadrant ${who}`, href: addressOf({ who }) },
      el("b", { text: count(found[who].length) }),
      el("span", { text: WHO_WORDS[who] }),
      el("span", { class: "muted", text: percent(found[who].length / sum) }),
    );
    return el("td", null, link);
  };
  return el(
    "table",
    { class: "quadrants" },
    el(
      "thead",
      null,
      el(
        "tr",
        null,
        el("td"),
        el("th", { scope: "col", text: "B right" }),
        el("th", { scope: "col", text: "B wrong" }),
      ),
    ),
    el(
      "tbody",
      null,
      el("tr", null, el("th", { scope: "row", text: "A right" }), cell("both"), cell("a")),
      el("tr", null, el("th", { scope: "row", text: "A wrong" }), cell("b"), cell("neither")),
    ),
  );
}

/** The paired figures: both values, the difference with its interval around zero, p. */
function pairedFigures(figures) {
  const sizes = figures.flatMap(one => [one.low ?? 0, one.high ?? 0, (one.b ?? 0) - (one.a ?? 0)]).map(Math.abs);
  const reach = Math.max(0.01, ...sizes),
    axis = axisHead(signed(-reach), "0", signed(reach));
  const numbers = ["A", "B", "B − A"].map(text => [text, "number"]);
  const heads = [["figure"], ...numbers, axis, ["95 %", "number"], ["p", "number"]];
  return table(
    "figures",
    heads,
    figures.map(one => pairedRow(one, reach)),
  );
}

function pairedRow({ name, a, b, low, high, p, lower }, reach) {
  const value = typeof a === "number" && typeof b === "number" ? b - a : null;
  return el(
    "tr",
    null,
    rowHead(figureName(name, lower)),
    cell("number", figureText(a)),
    cell("number", figureText(b)),
    cell("number strong", value === null ? "–" : signed(value)),
    cell("axis", intervalMark([{ value, low, high }], reach, -reach)),
    cell("number muted", typeof low === "number" ? `${signed(low)} … ${signed(high)}` : ""),
    cell("number p", typeof p === "number" ? pWords(p) : ""),
  );
}
const signed = n => `${n < 0 ? "−" : "+"}${Math.abs(n).toFixed(3)}`;
const pWords = p => (p < 0.0001 ? "< 0.0001" : p.toPrecision(2));

/** By each value of each field: pairs that only A or only B has right. */
function whereView() {
  const who = all.facets.find(one => one.key === "who"),
    parts = [];
  for (const facet of all.facets.filter(one => one.key.startsWith("f."))) {
    if (facet.names.length > 60) continue;
    const sums = facet.names.map(() => ({ a: 0, b: 0, n: 0 }));
    for (let k = 0; k < all.n; k++) {
      if (who.begins[k] === who.begins[k + 1]) continue;
      const right = who.names[who.flat[who.begins[k]]];
      for (let i = facet.begins[k]; i < facet.begins[k + 1]; i++) {
        const sum = sums[facet.flat[i]];
        sum.n++;
        if (right === "a" || right === "b") sum[right]++;
      }
    }
    parts.push(whereTable(facet, sums));
  }
  return parts;
}

function whereTable(facet, sums) {
  const name = facet.key.slice(2),
    flips = at => sums[at].a + sums[at].b;
  const order = [...facet.names.keys()].sort((x, y) => flips(y) - flips(x));
  const most = Math.max(1, ...sums.flatMap(sum => [sum.a, sum.b]));
  const link = (at, who) =>
    sums[at][who]
      ? el("a", { href: addressOf({ who, fields: { [name]: facet.names[at] } }), text: count(sums[at][who]) })
      : "0";
  const line = at =>
    el(
      "tr",
      null,
      rowHead(foreign(nameText(facet.names[at]))),
      cell("number muted", count(sums[at].n)),
      cell("number", link(at, "a")),
      cell("axis", butterfly(sums[at], most)),
      cell("number", link(at, "b")),
    );
  const heads = [["value"], ["n", "number"], ["only A", "number"], axisHead("A", "B"), ["only B", "number"]];
  return el("div", { class: "group" }, el("h3", null, foreign(name)), table("by", heads, order.map(line)));
}

/** Two bars from the middle, A's to the left and B's to the right. */
function butterfly(sum, most) {
  const left = 50 * (sum.a / most),
    right = 50 * (sum.b / most);
  return svg(
    "svg",
    { class: "interval", width: "100%", height: 12, "aria-hidden": "true" },
    svg("line", { class: "zero", x1: "50%", x2: "50%", y1: 0, y2: 12 }),
    svg("rect", { class: "run-0", x: `${50 - left}%`, y: 2, width: `${left}%`, height: 8 }),
    svg("rect", { class: "run-1", x: "50%", y: 2, width: `${right}%`, height: 8 }),
  );
}

function flipList(who, found) {
  const shown = found.slice(0, FLIPS_SHOWN);
  return el(
    "div",
    { class: "group" },
    el("h3", { text: `${WHO_WORDS[who]}: ${plural(found.length, "pair")}` }),
    found.length > 0 && el("p", { class: "muted caption", text: `beside each what ${who === "a" ? "B" : "A"} has wrong` }),
    el(
      "ul",
      { class: "flips" },
      shown.map(k =>
        el(
          "li",
          null,
          el("a", { href: addressOf({ who, id: idOf(k) }) }, foreign(shortened(idOf(k), 80))),
          " ",
          foreign(shortened(firstOf(k, who === "a" ? 1 : 0), 160), { class: "muted" }),
        ),
      ),
    ),
    found.length > shown.length &&
      el("a", { class: "more", href: addressOf({ who }), text: `all ${count(found.length)}` }),
  );
}

function makeCompare() {
  if (!two) return;
  const found = whoCounts(),
    compared = head.compare || {},
    where = whereView();
  byId("compare").replaceChildren(
    ...[
      compared.verdict && el("p", { class: "verdict", dir: "auto", text: visible(compared.verdict) }),
      card("Who is right", "", quadrants(found)),
      (compared.figures || []).length ? card("Paired figures", "beside", pairedFigures(compared.figures)) : null,
      card("Flips", "groups wide-card two-wide", flipList("a", found.a), flipList("b", found.b)),
      where.length ? card("Who is right, by field", "groups wide-card", where) : null,
    ].filter(Boolean),
  );
}
