// What happens elsewhere while a page is open: one stream of names and ids, and parts that fetch themselves.
"use strict";

const QUIET = 15 * 60000; // nobody is there: the session must be able to end
let stream = null;
let touched = Date.now();
let missedSome = false;
let heard = Number(document.body.dataset.mark ?? -1); // the newest change that this page knows

// --- the queue

const keepInPlace = (list, change) => {
  const row = () => one('.item[aria-current="true"]') ?? (document.activeElement?.matches(".item") && document.activeElement);
  const mine = row();
  const review = mine && mine.dataset.review;
  const hadFocus = mine && mine === document.activeElement;
  const before = mine ? mine.getBoundingClientRect().top : 0;
  const scrolled = list ? list.scrollTop : 0;
  change();
  const now = review && one(`.queue .item[data-review="${CSS.escape(review)}"]`);
  const fresh = one(".queue > ol");
  if (fresh) fresh.scrollTop = scrolled;
  if (now && fresh) fresh.scrollTop += now.getBoundingClientRect().top - before;
  if (now && hadFocus) now.focus({ preventScroll: true });
};
const showQueue = (html) => {
  const page = parsed(html);
  const fresh = page.querySelector(".queue");
  if (!fresh) return;
  const count = one("[data-waiting]");
  count.lastElementChild.textContent = fresh.dataset.total;
  count.hidden = fresh.dataset.total === "0";
  [".tabs", ".sum", ".dues"].forEach((name) => one(`.queue > ${name}`).replaceWith(fresh.querySelector(name)));
  const list = one(".queue > ol, .queue > .empty");
  const rows = fresh.querySelector("ol, .empty");
  const chosen = all(".queued .box:checked").map((box) => box.name);
  if (!list.dataset.grown) keepInPlace(list, () => list.replaceWith(rows));
  all(".queued .box").forEach((box) => (box.checked = chosen.includes(box.name)));
  tellChosen();
  const empty = page.querySelector(".case-empty");
  if (empty) one(".case-empty")?.replaceWith(empty);
  markCurrent();
  tellTimes();
};
// Never twice at once: what was read first must not be shown last.
const throttled = (work, between) => {
  let last = 0;
  let waiting = 0;
  let working = null;
  return () => {
    waiting ||= setTimeout(async () => {
      await working;
      waiting = 0;
      last = Date.now();
      working = work().catch(() => null);
    }, Math.max(150, last + between - Date.now()));
  };
};
const freshQueue = throttled(async () => {
  if (!one(".queue > .tabs")) return freshCount();
  try {
    showQueue(await (await part(location.href, "queue")).text());
    preload();
  } catch {
    return;
  }
}, 2000);
const freshCount = async () => {
  const count = one("[data-waiting]");
  const answer = await fetch("/events/waiting");
  if (!count || !answer.ok || answer.redirected) return;
  const { waiting } = await answer.json();
  count.lastElementChild.textContent = waiting;
  count.hidden = waiting === 0;
};

// --- parts of other screens: each says which event it follows

const freshParts = async (event) => {
  const parts = all(`[data-follows~="${event}"]`);
  if (!parts.length) return;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok || answer.redirected) return;
    const page = parsed(await answer.text());
    parts.forEach((old) => {
      const fresh = old.id && page.getElementById(old.id);
      if (!fresh || !old.isConnected) return;
      const atEnd = old.scrollHeight - old.scrollTop - old.clientHeight < 40;
      const scrolled = old.scrollTop;
      old.replaceWith(fresh);
      fresh.scrollTop = atEnd ? fresh.scrollHeight : scrolled;
    });
    tellTimes();
  } catch {
    return;
  }
};
const following = {
  message: throttled(() => freshParts("message"), 3000),
  changed: throttled(() => freshParts("changed"), 500),
  desk: throttled(() => freshParts("desk"), 500),
};

// --- what a colleague does with it meanwhile

const lookAgain = throttled(async () => {
  const watched = one("[data-watch]");
  if (!watched || document.hidden) return;
  try {
    const answer = await fetch(watched.dataset.watch);
    if (!answer.ok || answer.redirected || !watched.isConnected) return;
    const now = await answer.json();
    const typing = one("[data-typing]");
    if (typing) typing.textContent = now.typing;
    if (now.open && now.version === Number(watched.dataset.version)) return;
    if (one(".act .busy")) return; // this window decides it right now
    one("[data-faster-words]").textContent = now.words;
    one("[data-faster]").hidden = false;
    all("[data-decides] button, [form=reply-form]").forEach((button) => (button.disabled = true));
  } catch {
    return;
  }
}, 0);
const showPeople = (people) => {
  const place = one("[data-here]");
  if (!place) return;
  const words = people.length > 1 ? place.dataset.many : place.dataset.one;
  place.textContent = people.length ? words.replace("{people}", people.join(", ")) : "";
};

// --- the stream

const forget = (review) => [...ready.keys()].forEach((place) => new URL(place).pathname.endsWith(`/${review}`) && ready.delete(place));
const tellLive = (on) => {
  const sign = one("[data-live]");
  if (!sign) return;
  sign.hidden = false;
  one(".live", sign).classList.toggle("off", !on);
  one("[data-live-word]").textContent = on ? sign.dataset.on : sign.dataset.off;
};
const everything = () => {
  freshQueue();
  lookAgain();
  Object.values(following).forEach((fresh) => fresh());
};
const stopFollowing = () => {
  stream?.close();
  stream = null;
  missedSome = true;
};
const follow = () => {
  stream?.close();
  stream = null;
  if (document.hidden || !one("[data-live]")) return;
  const at = one("[data-at]")?.dataset.at;
  const opened = new EventSource(`/events?after=${heard}${at ? `&at=${encodeURIComponent(at)}` : ""}`);
  stream = opened;
  const on = (name, act) =>
    opened.addEventListener(name, (event) => {
      if (stream !== opened) return;
      heard = Math.max(heard, Number(event.lastEventId));
      act(JSON.parse(event.data));
    });
  opened.onopen = () => {
    tellLive(true);
    if (missedSome) everything();
    missedSome = false;
  };
  opened.onerror = () => {
    tellLive(false);
    missedSome = true;
    if (opened.readyState === EventSource.CLOSED) setTimeout(() => stream === opened && follow(), 10000);
  };
  on("queue", ({ review, open }) => {
    const current = caseOf()?.dataset.review === review;
    if (current) lookAgain();
    else if (!open) forget(review);
    if (!current && !open) one(`.queue .item[data-review="${CSS.escape(review)}"]`)?.closest("li").remove();
    freshQueue();
  });
  on("here", ({ people }) => showPeople(people));
  on("message", following.message);
  on("changed", following.changed);
  on("desk", following.desk);
  on("missed", everything);
};
["keydown", "pointermove", "scroll", "pointerdown"].forEach((kind) =>
  addEventListener(
    kind,
    () => {
      touched = Date.now();
      if (!stream) follow();
    },
    { passive: true }
  )
);
setInterval(() => stream && Date.now() - touched > QUIET && (stopFollowing(), tellLive(false)), 30000);
addEventListener("visibilitychange", () => (document.hidden ? stopFollowing() : follow()));
addEventListener("pagehide", stopFollowing);
follow();
