// The list of pairs: however many there are, only those in sight are elements.

const ROW = two ? 5.1 : 3.72; // height of a row in letters of the page, as style.css has it
const TALLEST = 8_000_000; // pixels that every browser scrolls; longer lists are scrolled in larger steps
const list = { found: [], at: -1, scroller: null, room: null, drawn: "", height: 600, row: 52 };

function makeList() {
  list.room = el("div", { class: "room", role: "presentation" });
  list.scroller = el(
    "div",
    { id: "list", class: two ? "list of-two" : "list", role: "listbox", tabindex: "0", "aria-label": "Pairs" },
    list.room,
  );
  list.scroller.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
  // the height is kept, for asking after a change makes the browser lay out the whole page
  new ResizeObserver(([one]) => {
    measured(one.contentRect.height);
  }).observe(list.scroller);
  return list.scroller;
}

function measured(height) {
  list.height = height || 600;
  list.row = ROW * parseFloat(getComputedStyle(document.documentElement).fontSize);
  showList(list.found);
}

/** Show other pairs. */
function showList(found) {
  list.found = found;
  list.drawn = "";
  list.room.style.height = `${Math.min(found.length * list.row, TALLEST)}px`;
  drawRows();
}

/** The row that stands at the upper edge, with its fraction. */
function topRow() {
  const { height } = list,
    all = list.found.length * list.row,
    tall = Math.min(all, TALLEST);
  if (tall <= height) return 0;
  return (list.scroller.scrollTop * (all - height)) / (tall - height) / list.row;
}

function drawRows() {
  const { height } = list,
    top = topRow(),
    first = Math.max(0, Math.floor(top) - 4);
  const last = Math.min(list.found.length, Math.ceil(top + height / list.row) + 4);
  const now = `${first} ${last} ${list.at} ${top.toFixed(2)}`;
  if (now === list.drawn) return;
  list.drawn = now;
  const rows = [];
  for (let position = first; position < last; position++) {
    const row = pairRow(list.found[position], position);
    row.style.top = `${list.scroller.scrollTop + (position - top) * list.row}px`;
    rows.push(row);
  }
  list.room.replaceChildren(...rows);
  const marked = list.at >= first && list.at < last ? `row-${list.at}` : null;
  if (marked) list.scroller.setAttribute("aria-activedescendant", marked);
  else list.scroller.removeAttribute("aria-activedescendant");
}

function stateChip(state, run) {
  const words = stateWords(state);
  return el(
    "span",
    { class: `chip ${state}`, title: head.states[state] || words },
    run && el("b", { text: run }),
    words,
  );
}

const scoreText = (k, run) =>
  scoreOf(k, run) >= 0 && el("span", { class: "score", title: ALIKE, text: alikeText(k, run) });

/** What became of a pair in one of two runs, and why, on a line. */
function runLine(k, run) {
  return el(
    "div",
    { class: "run-line" },
    stateChip(run ? stateOfB(k) : stateOf(k), LETTER[run]),
    scoreText(k, run),
    foreign(shortened(firstOf(k, run), 160), { class: "first" }),
  );
}

function pairRow(k, position) {
  const here = position === list.at;
  const id = foreign(shortened(idOf(k), 80), { class: "id" }),
    who = two && whoOf(k);
  const told = two
    ? [el("div", { class: "upper" }, id, who && el("span", { class: `chip who ${who}`, text: WHO_WORDS[who] })), runLine(k, 0), runLine(k, 1)]
    : [el("div", { class: "upper" }, id, stateChip(stateOf(k)), scoreText(k, 0)), foreign(shortened(firstOf(k), 200), { class: "first" })];
  return el(
    "div",
    {
      id: `row-${position}`,
      class: `row${here ? " here" : ""}`,
      role: "option",
      "aria-selected": String(here),
      "aria-posinset": position + 1,
      "aria-setsize": list.found.length,
      on: { click: () => openAt(position, false) },
    },
    told,
  );
}

/** Bring a row into sight. */
function reveal(position) {
  const { height } = list,
    top = topRow(),
    rows = height / list.row;
  if (position >= top && position + 1 <= top + rows) return;
  const wanted = Math.max(0, (position < top ? position : position + 1 - rows) * list.row);
  const all = list.found.length * list.row,
    tall = Math.min(all, TALLEST);
  list.scroller.scrollTop = all > height ? (wanted * (tall - height)) / (all - height) : 0;
}

/** Mark the pair that is open; the list goes to it. */
function markOpen(k) {
  list.at = k < 0 ? -1 : list.found.indexOf(k);
  if (list.at >= 0) reveal(list.at);
  drawRows();
}

/** Open the pair at a position of the list. */
function openAt(position, inPlace) {
  if (position < 0 || position >= list.found.length) return;
  go({ view: "pairs", id: idOf(list.found[position]) }, inPlace);
}

/** The next pair, or the one before; from nowhere the first. */
function step(by) {
  openAt(list.at < 0 ? 0 : Math.min(Math.max(list.at + by, 0), list.found.length - 1), true);
}
