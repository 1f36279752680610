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
  const reach = Math.max(
    0.01,
    ...figures.flatMap(one => [Math.abs(one.low ?? 0), Math.abs(one.high ?? 0), Math.abs((one.b ?? 0) - (one.a ?? 0))]),
  );
  const row = one => {
    const difference = typeof one.a === "number" && typeof one.b === "number" ? one.b - one.a : null;
    return el(
      "tr",
      null,
      el("th", { scope: "row" }, foreign(one.name)),
      el("td", { class: "number", text: figureText(one.a) }),
      el("td", { class: "number", text: figureText(one.b) }),
      el("td", { class: "number strong", text: difference === null ? "–" : signed(difference) }),
      el("td", { class: "axis" }, intervalMark([{ value: difference, low: one.low, high: one.high }], reach, -reach)),
      el("td", {
        class: "number muted",
        text: typeof one.low === "number" ? `${signed(one.low)} … ${signed(one.high)}` : "",
      }),
      el("td", { class: "number p", text: typeof one.p === "number" ? pWords(one.p) : "" }),
    );
  };
  return el(
    "div",
    { class: "wide" },
    el(
      "table",
      { class: "figures" },
      el(
        "thead",
        null,
        el(
          "tr",
          null,
          el("th", { scope: "col", text: "figure" }),
          ["A", "B", "B − A"].map(text => el("th", { scope: "col", class: "number", text })),
          axisHead(signed(-reach), "0", signed(reach)),
          ["95 %", "p"].map(text => el("th", { scope: "col", class: "number", text })),
        ),
      ),
      el("tbody", null, figures.map(row)),
    ),
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
    order = [...facet.names.keys()].sort((x, y) => sums[y].a + sums[y].b - sums[x].a - sums[x].b);
  const link = (at, which) =>
    sums[at][which]
      ? el("a", { href: addressOf({ who: which, fields: { [name]: facet.names[at] } }), text: count(sums[at][which]) })
      : "0";
  const most = Math.max(1, ...sums.flatMap(sum => [sum.a, sum.b]));
  return el(
    "div",
    { class: "group" },
    el("h3", null, foreign(name)),
    el(
      "div",
      { class: "wide" },
      el(
        "table",
        { class: "by" },
        el(
          "thead",
          null,
          el(
            "tr",
            null,
            el("th", { scope: "col", text: "value" }),
            el("th", { scope: "col", class: "number", text: "n" }),
            el("th", { scope: "col", class: "number", text: "only A" }),
            axisHead("A", "B"),
            el("th", { scope: "col", class: "number", text: "only B" }),
          ),
        ),
        el(
          "tbody",
          null,
          order.map(at =>
            el(
              "tr",
              null,
              el("th", { scope: "row" }, foreign(nameText(facet.names[at]))),
              el("td", { class: "number muted", text: count(sums[at].n) }),
              el("td", { class: "number" }, link(at, "a")),
              el("td", { class: "axis" }, butterfly(sums[at], most)),
              el("td", { class: "number" }, link(at, "b")),
            ),
          ),
        ),
      ),
    ),
  );
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
    el(
      "ul",
      { class: "flips" },
      shown.map(k =>
        el(
          "li",
          null,
          el("a", { href: addressOf({ who, id: idOf(k) }) }, foreign(shortened(idOf(k), 80))),
          " ",
          foreign(shortened(firstOf(k), 160), { class: "muted" }),
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
      where.length ? card("Who is right where", "groups wide-card", where) : null,
    ].filter(Boolean),
  );
}
