"use strict";
(() => {
  const rows = [...document.querySelectorAll("main > details")];
  const buttons = [...document.querySelectorAll(".states button")];
  const code = document.getElementById("code");
  const find = document.getElementById("find");
  const shown = document.getElementById("shown");
  const update = () => {
    const states = new Set(buttons.filter(b => b.ariaPressed === "true").map(b => b.dataset.state));
    const words = find.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const fits = states.has(row.dataset.state)
        && (!code.value || row.dataset.codes.split(" ").includes(code.value))
        && (!words || row.textContent.toLowerCase().includes(words));
      row.hidden = !fits;
      count += fits;
    }
    shown.textContent = `${count} of ${rows.length} shown`;
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      button.ariaPressed = String(button.ariaPressed !== "true");
      update();
    });
  }
  code.addEventListener("change", update);
  find.addEventListener("input", update);
  document.querySelector(".controls").hidden = false;
  update();
})();
