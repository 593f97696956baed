// What is pleasant with JavaScript; everything that is needed works without.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const parsed = (html) => new DOMParser().parseFromString(html, "text/html");
const home = () => one('[data-go="a"]').href;

// --- filters choose at once

all("[data-filters] select").forEach((select) => select.addEventListener("change", () => select.form.submit()));
all("[data-without-script]").forEach((button) => (button.hidden = true));
all("[data-with-script]").forEach((part) => (part.hidden = false));

// --- menus close, and one click is one decision

addEventListener("click", (event) =>
  all("details.pop[open]").forEach((menu) => menu.contains(event.target) || menu.removeAttribute("open"))
);
addEventListener("submit", (event) => {
  if (event.target.method === "dialog") return;
  setTimeout(() => event.defaultPrevented || all("button").forEach((button) => (button.disabled = true)));
});
addEventListener("pageshow", () => all("button").forEach((button) => (button.disabled = false)));

// --- how long something can still be stopped

const tick = () => {
  all("[data-until]").forEach((place) => {
    const left = Math.ceil(Number(place.dataset.until) - Date.now() / 1000);
    place.textContent = left > 0 ? document.body.dataset.sendsIn.replace("{left}", left) : place.dataset.over;
    if (left <= 0) all("[data-undo]").forEach((form) => (form.hidden = true));
  });
};
tick();
setInterval(tick, 500);

// --- more of the queue, without leaving the page

const loadMore = async () => {
  const link = one("[data-more]");
  if (!link || link.dataset.busy) return;
  link.dataset.busy = "yes";
  link.textContent = "…";
  try {
    const answer = await fetch(link.href);
    const page = parsed(await answer.text());
    const found = page.querySelectorAll(".rows > li:not(.lane, .pages)");
    if (!answer.ok || answer.redirected || !found.length) throw new Error("not a page of the queue");
    link.closest("ol").dataset.grown = "yes";
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

// --- reviews that are chosen in the queue

const tellChosen = () => {
  const form = one("#snooze-many");
  if (form) one("[data-count]", form).textContent = form.dataset.chosen.replace("{count}", all(".queued .box:checked").length);
};
addEventListener("change", (event) => event.target.matches?.(".queued .box") && tellChosen());
addEventListener("pageshow", tellChosen);

// --- a notice is said once

if (one("[data-notice]")) {
  const place = new URL(location.href);
  ["said", "of"].forEach((name) => place.searchParams.delete(name));
  history.replaceState(history.state, "", place);
}

// --- times as they are here

const language = document.documentElement.lang || "en";
const near = (at) => {
  const now = new Date();
  const clock = { hour: "numeric", minute: "2-digit" };
  if (at.toDateString() === now.toDateString()) return at.toLocaleTimeString(language, clock);
  const isThisYear = at.getFullYear() === now.getFullYear();
  return at.toLocaleString(language, { day: "numeric", month: "short", ...(isThisYear ? clock : { year: "numeric" }) });
};
document.cookie = `deskhand_zone=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone)}; path=/; max-age=31536000; samesite=strict`;
const tellTimes = () =>
  all("time[datetime]").forEach((place) => {
    const at = new Date(place.getAttribute("datetime"));
    if (Number.isNaN(at.valueOf())) return;
    place.title = at.toLocaleString(language, { dateStyle: "full", timeStyle: "medium" });
    if ("day" in place.dataset) return void (place.textContent = at.toLocaleDateString(language, { day: "numeric", month: "short", year: "numeric" }));
    place.textContent = "short" in place.dataset ? at.toLocaleTimeString(language, { timeStyle: "short" }) : near(at);
  });
tellTimes();

// --- keys

const walk = async (step) => {
  if (one("article.case")) return one(step > 0 ? "[data-next]" : "[data-previous]")?.click();
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
const compose = (what) => dispatchEvent(new CustomEvent("compose", { detail: what }));
const keys = {
  j: () => walk(1),
  k: () => walk(-1),
  a: approve,
  c: () => pressed(one("[data-other]")),
  e: () => (one("[data-compose]") ? compose("reply") : edit()),
  f: findings,
  r: () => into("[data-revise]"),
  x: () => into("[data-reject]"),
  s: () => into(one(".queued .box:checked") ? "[data-snooze-many]" : "[data-snooze]"),
  " ": () => document.activeElement.closest("li")?.querySelector(".box")?.click(),
  i: () => into("[data-assign]"),
  o: () => into("[data-keep-open]"),
  n: () => (one("[data-compose]") ? compose("note") : into("[data-note]")),
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
  if (event.repeat && event.key.length === 1 && !"jk".includes(event.key)) return; // a key held down decides once
  if (event.key === "Escape") {
    const menu = one("details.pop[open]");
    if (menu) return menu.removeAttribute("open");
    return one("[data-back]")?.click();
  }
  if ("noKeys" in document.body.dataset) return;
  if (go(event.key)) return event.preventDefault();
  if (event.key === " " && !document.activeElement?.matches(".queued .item")) return;
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
one('.sub > nav [aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "center" });
if (one("article.case")) setUpCase();
followToast();

// --- a thread begins at its end

const flow = one("#flow");
if (flow) flow.scrollTop = flow.scrollHeight;

// --- hits below the search field while one types

const find = one("[data-find]");
if (find) {
  let asking = 0;
  const close = () => one(".find > .found")?.remove();
  find.addEventListener("input", () => {
    clearTimeout(asking);
    asking = setTimeout(async () => {
      const asked = find.value.trim();
      if (asked.length < 2) return close();
      try {
        const answer = await part(`/search/?q=${encodeURIComponent(asked)}`, "results");
        if (find.value.trim() !== asked) return;
        const found = parsed(await answer.text()).querySelector(".found");
        close();
        find.form.append(found);
        tellTimes();
      } catch {
        close();
      }
    }, 250);
  });
  find.form.addEventListener("keydown", (event) => {
    const lines = [find, ...all(".find .hit-line")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") close();
    if (!step) return;
    event.preventDefault();
    lines[(lines.indexOf(document.activeElement) + step + lines.length) % lines.length].focus();
  });
  addEventListener("click", (event) => find.form.contains(event.target) || close());
}
