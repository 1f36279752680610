"use strict";
// Elements, foreign text made visible, numbers in words. Foreign text reaches the page only as text nodes.

const SVG = "http://www.w3.org/2000/svg";

/** Fill an element: class, on (listeners), data, text and attributes by name; null and false are left out. */
function fill(node, given, children) {
  for (const [name, value] of Object.entries(given || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return explained(node);
}

const meanings = { labels: {}, columns: {}, figures: {} }; // of the page's words: data.js fills them

/** A heading, or the head of a column, with the meaning of its words on hover; what is foreign has none. */
function explained(node) {
  const column = node.tagName === "TH" && node.getAttribute("scope") === "col";
  if (node.title || !(column || /^(H[234]|SUMMARY)$/.test(node.tagName))) return node;
  const words = node.textContent.replace(/(: | of )[AB]$/, "");
  const meaning = column ? meanings.columns[words] || meanings.figures[words] : meanings.labels[words];
  if (meaning) node.title = meaning;
  return node;
}

const el = (tag, given, ...children) => fill(document.createElement(tag), given, children);
const svg = (tag, given, ...children) => fill(document.createElementNS(SVG, tag), given, children);
const byId = id => document.getElementById(id);

/** Foreign text on its own: its direction is its own affair and nothing around it moves. */
const foreign = (text, given) => el("bdi", { dir: "auto", ...given, text: visible(text) });

const ESCAPES = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };
// What hides, moves or breaks other text: controls, marks of direction, lone surrogates, separators of lines.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\ufffe\uffff]/gu;
// Prose keeps joiners, which Persian and emoji need, and its lines; only what controls or overrides goes.
const UNSEEN_IN_PROSE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\p{Cs}\ufffe\uffff]/gu;

function escaped(character) {
  if (ESCAPES[character]) return ESCAPES[character];
  const point = character.codePointAt(0),
    hex = point.toString(16);
  if (point < 256) return `\\x${hex.padStart(2, "0")}`;
  return point < 65536 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

const visible = text => String(text).replace(UNSEEN, escaped);
const visibleLines = text => String(text).replace(UNSEEN, c => (c === "\n" || c === "\t" ? c : escaped(c)));
const prose = text => String(text).replace(UNSEEN_IN_PROSE, escaped);
const nameText = name => (String(name).trim() ? visible(name) : `"${visible(name)}"`);

/** A text as an address can hold it: without lone surrogates. */
const addressed = text => (text.toWellFormed ? text.toWellFormed() : text.replace(/\p{Cs}/gu, "\ufffd"));

const count = n => n.toLocaleString("en-US");
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many || `${one}s`}`;
const stateWords = state => state.replaceAll("_", " ");

/** A number with so many digits behind the point; more where these would say 0 or all of what is not. */
function rounded(value, digits, all) {
  const whole = number => Number.isInteger(number / all);
  while (digits < 12 && whole(Number(value.toFixed(digits))) && !whole(value)) digits += 1;
  return value.toFixed(digits);
}

/** A figure with three digits behind the point; what is no number is a dash. */
function figureText(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return Number.isInteger(value) && Math.abs(value) > 1 ? count(value) : rounded(value, 3, 1);
}

/** At most so many characters, whole ones. */
function shortened(text, most) {
  if (text.length <= most) return text;
  const points = Array.from(text.slice(0, 2 * most + 2));
  return points.length <= most && text.length <= 2 * most ? text : `${points.slice(0, most - 1).join("")}…`;
}

const cell = (kind, ...children) => el("td", { class: kind }, ...children);
const rowHead = (...children) => el("th", { scope: "row" }, ...children);

/** A table that scrolls by itself where it is too wide; heads are ready, or each [text, class]. */
function table(kind, heads, rows) {
  const head = one => (Array.isArray(one) ? el("th", { scope: "col", class: one[1] }, one[0]) : one);
  const upper = el("thead", null, el("tr", null, heads.map(head)));
  return el("div", { class: "wide" }, el("table", { class: kind }, upper, el("tbody", null, rows)));
}

/** Tell a screen reader what has just happened. */
function say(words) {
  byId("live").textContent = words;
}

/** A button that copies a text, and says so. */
function copyButton(words, text, given) {
  const button = el("button", { type: "button", class: "plain", ...given, text: words });
  button.addEventListener("click", async () => {
    const done = await copied(text());
    button.textContent = done ? "copied" : "not copied";
    say(done ? `${words}: copied` : "the browser did not allow to copy");
    setTimeout(() => {
      button.textContent = words;
    }, 1500);
  });
  return button;
}

/** Copy a text; pages from disk may lack the clipboard's own interface. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A word as a POSIX shell takes it. */
const shellWord = word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
