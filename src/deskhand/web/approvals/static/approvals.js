// What is pleasant with JavaScript; everything that is needed works without.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

// --- filters choose at once

all("[data-filters] select").forEach((select) => select.addEventListener("change", () => select.form.submit()));
all("[data-without-script]").forEach((button) => (button.hidden = true));

// --- what is typed is kept on the server

const text = one("[data-keep]");
if (text) {
  const form = text.form;
  const word = one("[data-kept-word]");
  let waiting = 0;
  let sent = new URLSearchParams(new FormData(form)).toString();
  const keep = async (leaving) => {
    clearTimeout(waiting);
    const body = new URLSearchParams(new FormData(form)).toString();
    if (body === sent) return;
    sent = body;
    const request = { method: "POST", body, keepalive: Boolean(leaving), headers: { "Content-Type": "application/x-www-form-urlencoded" } };
    try {
      const answer = await fetch(text.dataset.keep, request);
      word.textContent = answer.ok ? "kept" : "not kept: load the page again";
    } catch {
      sent = "";
      word.textContent = "not kept yet: the server is away";
      waiting = setTimeout(keep, 3000);
    }
  };
  form.addEventListener("input", () => {
    word.textContent = "…";
    clearTimeout(waiting);
    waiting = setTimeout(keep, 500);
  });
  form.addEventListener("submit", () => clearTimeout(waiting));
  addEventListener("pagehide", () => keep(true));
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  all("[data-insert]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => {
      const inserted = one("pre", button.parentElement).textContent;
      text.setRangeText(inserted, text.selectionStart, text.selectionEnd, "end");
      text.dispatchEvent(new Event("input", { bubbles: true }));
      text.focus();
    });
  });
}

// --- one click is one decision

all("form").forEach((form) =>
  form.addEventListener("submit", () => setTimeout(() => all("button").forEach((button) => (button.disabled = true))))
);
addEventListener("pageshow", () => all("button").forEach((button) => (button.disabled = false)));

// --- how long something can still be stopped

const tick = () => {
  all("[data-until]").forEach((place) => {
    const left = Math.ceil(Number(place.dataset.until) - Date.now() / 1000);
    place.textContent = left > 0 ? `Leaves in ${left} s.` : place.dataset.over;
    if (left <= 0) all("[data-undo]").forEach((form) => (form.hidden = true));
  });
};
if (one("[data-until]")) {
  tick();
  setInterval(tick, 500);
}

// --- keys

const rows = all(".row");
const walk = (step) => {
  if (!rows.length) return one(step > 0 ? "[data-next]" : "[data-previous]")?.click();
  const at = rows.indexOf(document.activeElement);
  rows[at < 0 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)].focus();
};
const into = (selector) => {
  const field = one(selector);
  if (field) field.focus();
  return Boolean(field);
};
const keys = {
  j: () => walk(1),
  k: () => walk(-1),
  a: () => one("[data-approve]")?.click(),
  e: () => into("textarea"),
  r: () => into("[data-revise]"),
  x: () => into("[data-reject]"),
  s: () => into("[data-snooze]"),
  u: () => (one("[data-undo-here]") ?? one("[data-undo]:not([hidden]) button"))?.click(),
  "?": () => one("#keys")?.showModal(),
};
addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input, textarea, select");
  if (event.key === "Escape" && typing) return event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  if (event.key === "Escape") return one("[data-back]")?.click();
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
const help = one("[data-help]");
if (help) {
  help.hidden = false;
  help.addEventListener("click", keys["?"]);
}
