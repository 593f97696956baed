// What is pleasant with JavaScript; everything that is needed works without.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

// --- filters choose at once

all("[data-filters] select").forEach((select) => select.addEventListener("change", () => select.form.submit()));
all("[data-without-script]").forEach((button) => (button.hidden = true));
all("[data-with-script]").forEach((part) => (part.hidden = false));

// --- three ways to look at a draft: what changed, the fields, and as it leaves

const draft = one("[data-draft]");
const show = (view) => {
  if (!draft) return;
  all("[data-show]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.show === view)));
  all("[data-view]").forEach((part) => (part.hidden = part.dataset.view !== (view === "edit" ? "edit" : "marked")));
  draft.classList.toggle("clean", view === "clean");
};
if (draft) show(draft.dataset.draft);
all("[data-show]").forEach((button) =>
  button.addEventListener("click", () => {
    show(button.dataset.show);
    if (button.dataset.show === "edit") one("[data-keep]").focus();
  })
);

// --- what is typed is kept on the server

const text = one("[data-keep]");
if (text) {
  const form = text.form;
  const word = one("[data-kept-word]");
  let waiting = 0;
  const fields = () => new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === "string")).toString();
  let sent = fields();
  const keep = async (leaving) => {
    clearTimeout(waiting);
    const body = fields();
    if (body === sent) return;
    sent = body;
    const headers = { "Content-Type": "application/x-www-form-urlencoded", "HX-Request": "true" };
    try {
      const answer = await fetch(text.dataset.keep, { method: "POST", body, keepalive: Boolean(leaving), headers });
      if (answer.ok && !leaving) compare(await answer.text());
      word.textContent = answer.ok ? "saved" : "not saved: load the page again";
    } catch {
      sent = "";
      word.textContent = "not saved yet: the server does not answer";
      waiting = setTimeout(keep, 3000);
    }
  };
  const compare = (part) => {
    const place = one("[data-changes]");
    place.replaceChildren(...new DOMParser().parseFromString(part, "text/html").body.childNodes);
    const open = Number(one("[data-open-findings]", place)?.dataset.openFindings ?? 0);
    one("[data-approve]")?.toggleAttribute("data-twice", open > 0);
  };
  all("[data-take-out]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => {
      const loose = button.dataset.takeOut.trim().split(/\s+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      text.value = text.value.replace(new RegExp(`${loose.join("\\s+")} ?`), "");
      text.dispatchEvent(new Event("input", { bubbles: true }));
      button.closest(".fix").remove();
    });
  });
  form.addEventListener("input", () => {
    word.textContent = "…";
    clearTimeout(waiting);
    waiting = setTimeout(keep, 500);
  });
  form.addEventListener("submit", () => clearTimeout(waiting));
  addEventListener("pagehide", () => keep(true));
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) approve();
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

// --- an open finding needs the key twice

let armed = 0;
const approve = () => {
  const button = one("[data-approve]");
  if (!button) return;
  if ("twice" in button.dataset && Date.now() - armed > 4000) {
    armed = Date.now();
    button.classList.add("armed");
    return;
  }
  armed = 0;
  if (button.form && !button.form.checkValidity()) {
    show("edit");
    button.form.reportValidity();
    return;
  }
  button.click();
};
document.addEventListener("click", (event) =>
  all("details.pop[open]").forEach((menu) => menu.contains(event.target) || menu.removeAttribute("open"))
);

// --- one click is one decision

all("form").forEach((form) =>
  form.addEventListener("submit", () => setTimeout(() => all("button").forEach((button) => (button.disabled = true))))
);
addEventListener("pageshow", () => all("button").forEach((button) => (button.disabled = false)));

// --- how long something can still be stopped

const tick = () => {
  all("[data-until]").forEach((place) => {
    const left = Math.ceil(Number(place.dataset.until) - Date.now() / 1000);
    place.textContent = left > 0 ? `Sends in ${left} s.` : place.dataset.over;
    if (left <= 0) all("[data-undo]").forEach((form) => (form.hidden = true));
  });
};
if (one("[data-until]")) {
  tick();
  setInterval(tick, 500);
}

// --- more of the queue, without leaving the page

const loadMore = async () => {
  const link = one("[data-more]");
  if (!link || link.dataset.busy) return;
  link.dataset.busy = "yes";
  link.textContent = "…";
  try {
    const answer = await fetch(link.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelectorAll(".rows > li:not(.lane, .pages)");
    if (!answer.ok || answer.redirected || !found.length) throw new Error("not a page of the queue");
    link.closest("li").before(...found);
    const next = page.querySelector("[data-more]");
    if (next) link.replaceWith(next);
    else link.remove();
    tellTimes();
  } catch {
    location.href = link.href;
  }
};
addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || !event.target.closest?.("[data-more]")) return;
  event.preventDefault();
  loadMore();
});

// --- times as they are here

const tellTimes = () =>
  all("time[datetime]").forEach((place) => {
    const at = new Date(place.getAttribute("datetime"));
    if (!Number.isNaN(at.valueOf())) place.textContent = at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  });
tellTimes();

// --- what a colleague does with it meanwhile

const watched = one("[data-watch]");
if (watched) {
  const banner = one("[data-faster]");
  const typing = one("[data-typing]");
  const version = Number(watched.dataset.version);
  let touched = Date.now();
  ["keydown", "pointermove", "scroll"].forEach((kind) => addEventListener(kind, () => (touched = Date.now()), { passive: true }));
  const look = async () => {
    if (document.hidden || Date.now() - touched > 15 * 60000) return; // nobody is there: the session must be able to end
    try {
      const answer = await fetch(watched.dataset.watch);
      if (!answer.ok || answer.redirected) return;
      const now = await answer.json();
      if (typing) typing.textContent = now.typing;
      if (now.open && now.version === version) return;
      clearInterval(looking);
      one("[data-faster-words]").textContent = now.words;
      banner.hidden = false;
      all("[data-decides] button, [form=reply-form]").forEach((button) => (button.disabled = true));
    } catch {
      return;
    }
  };
  const looking = setInterval(look, 3000);
  addEventListener("visibilitychange", look);
}

// --- keys

const walk = async (step) => {
  if (one("[data-watch], .view-item")) return one(step > 0 ? "[data-next]" : "[data-previous]")?.click();
  const at = all(".item").indexOf(document.activeElement);
  if (step > 0 && at === all(".item").length - 1) await loadMore();
  const rows = all(".item");
  rows[at < 0 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
};
const into = (selector) => {
  const field = one(selector);
  if (!field) return;
  for (let menu = field.closest("details"); menu; menu = menu.parentElement.closest("details")) menu.open = true;
  field.focus();
};
const findings = () => {
  const marks = all("mark.loose");
  if (!marks.length) return;
  show("marked");
  const next = marks[(marks.indexOf(document.activeElement) + 1) % marks.length];
  next.scrollIntoView({ block: "center" });
  next.focus();
};
const source = (number) => {
  const place = one(`#s${number}`);
  if (!place) return;
  place.open = true;
  one("summary", place).focus();
};
const edit = () => {
  show("edit");
  one("[data-keep]")?.focus();
};
const keys = {
  j: () => walk(1),
  k: () => walk(-1),
  a: approve,
  e: edit,
  f: findings,
  r: () => into("[data-revise]"),
  x: () => into("[data-reject]"),
  s: () => into("[data-snooze]"),
  i: () => into("[data-assign]"),
  n: () => into("[data-note]"),
  t: () => one("[data-take-over]")?.click(),
  u: () => (one("[data-undo-here]") ?? one("[data-undo]:not([hidden]) button"))?.click(),
  "[": () => document.body.classList.toggle("no-queue"),
  "]": () => document.body.classList.toggle("no-proof"),
  "/": () => into("[data-search]"),
  "?": () => one("#keys")?.showModal(),
};
let going = 0;
const go = (key) => {
  const asked = Date.now() - going < 1500;
  going = key === "g" ? Date.now() : 0;
  const link = asked && one(`[data-go="${CSS.escape(key)}"]`);
  if (link) link.click();
  return Boolean(link);
};
addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input, textarea, select");
  if (event.key === "Escape" && typing) return event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  if (event.key === "Escape") {
    const menu = one("details.pop[open]");
    if (menu) return menu.removeAttribute("open");
    return one("[data-back]")?.click();
  }
  if ("noKeys" in document.body.dataset) return;
  if (go(event.key)) return event.preventDefault();
  const act = /^[1-9]$/.test(event.key) ? () => source(event.key) : keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
const help = one("[data-help]");
if (help) {
  help.hidden = false;
  help.addEventListener("click", keys["?"]);
}
one('.item[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
