// A scene as a picture: boxes of text and arrows in the roles' colours, lines and signs; or as a list.

const MOST_CALLS = 60; // more are listed, not drawn
const LETTERS = 46; // characters of a line in a box; the whole text is its title
const LETTER_HEIGHT = 14; // pixels of the page's letters, for which the drawing is laid out
const LINE = 16,
  PAD = 8; // pixels of a line of text, and around the text

const fonts = { title: "600 12px ", text: "12px ", label: "10.5px " };
const family = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const widths = new Map();
let ruler = null;

/** The width of a text in pixels. */
function widthOf(text, font) {
  const key = `${font}${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    ruler ||= document.createElement("canvas").getContext("2d");
    ruler.font = fonts[font] + family;
    width = ruler.measureText(text).width;
    if (widths.size > 20000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

const cut = text => shortened(text, LETTERS);
const withSign = (role, text) => (SIGNS[role] ? `${SIGNS[role]} ${text}` : text);

/** The lines of a box: what each says, how it is dressed, and its width. */
function linesOf(box) {
  const lines = [],
    whole = ["missing", "extra", "plain", "ok", "failed", "skipped"].includes(box.role);
  const add = (kind, role, text, more = "") => {
    const shown = cut(text),
      after = shortened(more, 30);
    lines.push({
      kind,
      role,
      text: shown,
      more: after,
      w: widthOf(shown, kind === "title" ? "title" : "text") + (after ? widthOf(after, "text") + 5 : 0),
    });
  };
  add("title", box.role, withSign(box.role, box.title), box.place && `(${box.place})`);
  if (box.gold) add("gold", "changed", `gold: ${box.gold}`);
  if (box.mark) add("mark", box.role, box.mark);
  for (const row of box.rows) {
    add("row", row.role, whole ? row.text : withSign(row.role, row.text));
    if (row.gold) add("gold", row.role, row.gold);
  }
  if (box.after) add("row", box.role, box.after);
  return lines;
}

function boxElement(box, lines, spot, size, at) {
  const group = svg("g", {
    class: `box ${box.role}`,
    transform: `translate(${round(spot.x)} ${round(spot.y)})`,
    "data-box": at,
  });
  group.append(
    svg("title", { text: titleOf(box) }),
    svg("rect", { width: round(size.w), height: round(size.h), rx: 6 }),
  );
  lines.forEach((line, row) => {
    const text = svg("text", {
      x: line.kind === "gold" ? PAD + 12 : PAD,
      y: PAD + 11 + row * LINE,
      class: `${line.kind} ${line.role}`,
    });
    text.append(line.text);
    if (line.more) text.append(svg("tspan", { class: "place", dx: 5, text: line.more }));
    group.append(text);
  });
  return group;
}

function titleOf(box) {
  const rows = box.rows.map(row => `${SIGNS[row.role] || ""} ${row.text}${row.gold && ` (${row.gold})`}`.trim());
  return shortened([`${withSign(box.role, box.title)}${box.place && ` (${box.place})`}`, ...rows].join("\n"), 2000);
}

/** The tip of an arrow that ends going down, or up where it leads back. */
function tip(role, [x, y], turned) {
  const way = turned ? 1 : -1,
    half = role === "extra" ? 5 : 4,
    long = half * 2;
  const group = svg(
    "g",
    { class: "tip" },
    svg("path", {
      d: `M${round(x - half)} ${round(y + way * long)}L${round(x + half)} ${round(y + way * long)}L${round(x)} ${round(y)}Z`,
    }),
  );
  if (role === "wrong") group.append(svg("path", { d: `M${round(x - 5)} ${round(y + way * (long + 3))}h10` }));
  return group;
}

function arrowElement(arrow, found) {
  const group = svg(
    "g",
    { class: `arrow ${arrow.role}` },
    svg("title", { text: `${withSign(arrow.role, arrow.label)}` }),
  );
  group.append(svg("path", { class: "line", d: found.line }));
  if (arrow.role === "wrong") group.append(svg("path", { class: "core", d: found.line }));
  group.append(tip(arrow.role, found.turned ? found.start : found.end, found.turned));
  if (found.label)
    group.append(
      svg("text", { class: "label", x: round(found.label.x), y: round(found.label.y), text: labelOf(arrow) }),
    );
  return group;
}

const labelOf = arrow =>
  shortened(withSign(arrow.role === "kept" || arrow.role === "plain" ? "" : arrow.role, arrow.label), 40);

/** The picture of a scene. */
function picture(scene, across) {
  const lines = scene.boxes.map(linesOf);
  const sizes = lines.map(found => ({
    w: Math.max(72, ...found.map(line => line.w + (line.kind === "gold" ? 12 : 0))) + 2 * PAD,
    h: found.length * LINE + 2 * PAD - 3,
  }));
  const edges = scene.arrows.map(arrow => ({ ...arrow, w: widthOf(labelOf(arrow), "label") }));
  const found = layout(sizes, edges, across),
    margin = 6;
  const drawn = svg("svg", {
    class: "drawing",
    role: "img",
    "aria-label": `Drawing. ${scene.summary}`,
    width: `${round((found.width + 2 * margin) / LETTER_HEIGHT)}rem`, // as large as the reader's other letters
    height: `${round((found.height + 2 * margin) / LETTER_HEIGHT)}rem`,
    viewBox: `${-margin} ${-margin} ${Math.ceil(found.width + 2 * margin)} ${Math.ceil(found.height + 2 * margin)}`,
  });
  scene.arrows.forEach((arrow, at) => {
    if (found.lines[at]) drawn.append(arrowElement(arrow, found.lines[at]));
  });
  scene.boxes.forEach((box, at) => drawn.append(boxElement(box, lines[at], found.spots[at], sizes[at], at)));
  return drawn;
}

/** The calls of a scene as a list: everything, nothing cut; what a screen reader reads. */
function listing(scene) {
  return el(
    "ol",
    { class: "listing" },
    scene.boxes.map((box, at) =>
      el(
        "li",
        { class: box.role, "data-box": at },
        el("span", { class: "sign", text: `${SIGNS[box.role] || ""} ` }),
        foreign(box.title, { class: "title" }),
        box.place && el("span", { class: "place", text: ` (${box.place})` }),
        box.gold && foreign(` gold: ${box.gold}`, { class: "gold" }),
        box.mark && foreign(` ${box.mark}`, { class: "mark" }),
        el(
          "ul",
          null,
          box.rows.map(row =>
            el(
              "li",
              { class: row.role },
              foreign(withSign(["missing", "extra"].includes(box.role) ? "" : row.role, row.text)),
              row.gold && foreign(` (${row.gold})`, { class: "gold" }),
            ),
          ),
        ),
      ),
    ),
  );
}

function legend(scene) {
  const used = new Set([...scene.boxes, ...scene.arrows, ...scene.boxes.flatMap(box => box.rows)].map(one => one.role));
  const roles = Object.keys(MEANINGS).filter(role => used.has(role) && role !== "kept");
  return el(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    roles.map(role =>
      el(
        "li",
        { class: role },
        el("span", { class: "sign", text: SIGNS[role] }),
        ` ${role === "wrong" ? "wrong reference" : role}: ${MEANINGS[role]}`,
      ),
    ),
  );
}

/** A scene as people see it: drawn, or listed where it is too large; the list always beside the drawing. */
function sceneView(scene, across) {
  const parts = [el("p", { class: "summary", text: scene.summary })];
  if (!scene.boxes.length) return parts;
  if (scene.boxes.length > MOST_CALLS)
    parts.push(el("p", { class: "muted", text: `listed, not drawn: more than ${MOST_CALLS} calls` }), listing(scene));
  else {
    parts.push(
      el(
        "div",
        { class: "canvas", tabindex: "0", role: "group", "aria-label": "Drawing, can be scrolled" },
        picture(scene, across),
      ),
    );
    parts.push(el("details", { class: "aslist" }, el("summary", { text: "as a list" }), listing(scene)));
  }
  parts.push(legend(scene));
  return parts;
}
