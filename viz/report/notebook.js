// A plan or a comparison in a notebook: drawn in place of the listing that stands there. Notebooks may put a
// script anywhere and run it late, so each draws all that is not drawn yet; what fails leaves the listing.

function drawIn(host) {
  const given = JSON.parse(host.querySelector("script[type='application/json']").textContent);
  const scene = given.gold ? overlay(given.gold, given.pred, given.aligned, given.edits) : planScene(given.pred);
  const said = (given.edits || []).map(([code, words]) =>
    el("li", null, words.startsWith(code) ? foreign(words) : foreign(`${code}: ${words}`)),
  );
  const parts = [...sceneView(scene, Math.max(240, host.clientWidth || 800)), said.length && el("ul", null, said)];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(given.style);
  const { jpThemeLight } = document.body.dataset, dark = document.body.classList.contains("vscode-dark");
  if (jpThemeLight || dark) sheet.insertRule(`:host { color-scheme: ${dark || jpThemeLight === "false" ? "dark" : "light"}; }`, sheet.cssRules.length);
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet];
  root.append(...parts.filter(Boolean));
}

for (const host of document.querySelectorAll(".planeval-drawing"))
  if (!host.shadowRoot)
    try {
      drawIn(host);
    } catch (error) {
      console.warn("planeval: listed, not drawn", error);
    }
