// Keys and choices in the table of tickets; without it the same forms work with clicks.
"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const boxes = all("[data-row] .box");
  const bar = document.querySelector("[data-bulk]");
  const whole = document.querySelector("[data-all]");

  const tell = () => {
    const chosen = boxes.filter((box) => box.checked);
    boxes.forEach((box) => box.closest("tr").setAttribute("aria-selected", String(box.checked)));
    if (!bar) return;
    bar.hidden = chosen.length === 0;
    bar.querySelector("[data-count]").textContent = bar.dataset.chosen.replace("{count}", chosen.length);
    whole.checked = chosen.length === boxes.length;
    whole.indeterminate = chosen.length > 0 && chosen.length < boxes.length;
  };
  boxes.forEach((box) => box.addEventListener("change", tell));
  if (whole) {
    whole.hidden = false;
    whole.addEventListener("change", () => {
      boxes.forEach((box) => (box.checked = whole.checked));
      tell();
    });
    const none = document.querySelector("[data-none]");
    none.hidden = false;
    none.addEventListener("click", () => {
      boxes.forEach((box) => (box.checked = false));
      tell();
    });
  }
  addEventListener("pageshow", tell);
  tell();

  const links = all("[data-row] .subj a");
  const walk = (step) => {
    const row = document.activeElement?.closest("[data-row]");
    const at = row ? all("[data-row]").indexOf(row) : -1;
    const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1);
    all("[data-row].here").forEach((one) => one.classList.remove("here"));
    links[next]?.focus();
    links[next]?.closest("tr").classList.add("here");
  };
  const open = (key) => {
    const part = document.querySelector(`[data-bulk-key="${key}"]`);
    if (!part || (bar && bar.contains(part) && bar.hidden)) return;
    part.click();
    part.parentElement.querySelector("select, input:not([type=hidden])")?.focus();
  };
  const keys = {
    j: () => walk(1),
    k: () => walk(-1),
    f: () => document.querySelector("[data-filter]")?.click(),
    c: () => {
      const begin = document.querySelector("[data-new-ticket]");
      if (!begin) return;
      begin.parentElement.open = true;
      begin.parentElement.querySelector("[name=customer]").focus();
    },
    " ": () => document.activeElement?.closest("[data-row]")?.querySelector(".box").click(),
  };
  addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input:not([type=checkbox]), textarea, select, button, summary");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if ("noKeys" in document.body.dataset) return;
    if (event.key === " " && !document.activeElement?.matches("[data-row] a")) return;
    const act = keys[event.key] ?? ("ipmd".includes(event.key) && (() => open(event.key)));
    if (!act) return;
    event.preventDefault();
    act();
  });
})();
