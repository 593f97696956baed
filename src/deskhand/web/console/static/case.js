// One review: three views of its draft, words that are kept, decisions without loading the page anew.
"use strict";

const caseOf = () => one("article.case");

// --- three ways to look at a draft: what changed, the fields, and as it leaves

const show = (view) => {
  const draft = one("[data-draft]");
  if (!draft) return;
  all("[data-show]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.show === view)));
  all("[data-view]").forEach((part) => (part.hidden = part.dataset.view !== (view === "edit" ? "edit" : "marked")));
  draft.classList.toggle("clean", view === "clean");
};

// --- what is typed is kept on the server

let keeping = 0;
let kept = "";
const fieldsOf = (form) =>
  new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === "string")).toString();
const compare = (part) => {
  const place = one("[data-changes]");
  if (!place) return;
  place.replaceChildren(...parsed(part).body.childNodes);
  showActions();
  const open = Number(one("[data-open-findings]", place)?.dataset.openFindings ?? 0);
  all("[form=reply-form][data-approve], [form=reply-form][data-other]").forEach((button) => button.toggleAttribute("data-twice", open > 0));
  one("[data-checks]")?.replaceChildren(...one("[data-checks-now]", place).content.childNodes);
  one("[data-changed-words]").textContent = one("[data-words-now]", place).content.textContent;
};
const keep = async (leaving = false) => {
  clearTimeout(keeping);
  const text = one("[data-keep]");
  if (!text) return;
  const body = fieldsOf(text.form);
  if (body === kept) return;
  kept = body;
  const word = one("[data-kept-word]");
  const headers = { "Content-Type": "application/x-www-form-urlencoded", "HX-Request": "true" };
  try {
    const answer = await fetch(text.dataset.keep, { method: "POST", body, keepalive: leaving, headers });
    if (answer.ok && !leaving && text.isConnected) compare(await answer.text());
    word.textContent = answer.ok ? document.body.dataset.saved : document.body.dataset.notSaved;
  } catch {
    kept = "";
    word.textContent = document.body.dataset.noAnswer;
    keeping = setTimeout(keep, 3000);
  }
};
addEventListener("pagehide", () => keep(true));

const insert = (words) => {
  const text = one("[data-keep], [data-compose]");
  text.setRangeText(words, text.selectionStart, text.selectionEnd, "end");
  text.dispatchEvent(new Event("input", { bubbles: true }));
  text.focus();
};
const loosely = (words) => {
  const parts = words.trim().split(/\s+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`${parts.join("\\s+")} ?`);
};
const takeOut = (button) => {
  const text = one("[data-keep]");
  text.value = text.value.replace(loosely(button.dataset.takeOut), "");
  all("[data-take-out]").forEach((other) => other.dataset.takeOut === button.dataset.takeOut && other.closest(".fix").remove());
  keep();
};
const sayInstead = (button) => {
  const text = one("[data-keep]");
  const found = text.value.match(loosely(button.dataset.instead));
  if (!found) return;
  const gap = found[0].endsWith(" ") ? " " : "";
  text.value = text.value.replace(found[0], () => one("template", button).content.textContent.trim() + gap);
  keep();
};

addEventListener("input", (event) => {
  if (!event.target.closest?.("#reply-form")) return;
  one("[data-kept-word]").textContent = "…";
  clearTimeout(keeping);
  keeping = setTimeout(keep, 500);
});
addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-show], [data-insert], [data-take-out], [data-instead]");
  if (!button) return;
  if ("instead" in button.dataset) return sayInstead(button);
  if ("takeOut" in button.dataset) return takeOut(button);
  if ("insert" in button.dataset) return insert(one("pre", button.parentElement).textContent);
  show(button.dataset.show);
  if (button.dataset.show === "edit") one("[data-keep]").focus();
});
addEventListener("keydown", (event) => {
  if (event.target.matches?.("[data-keep]") && event.key === "Enter" && (event.ctrlKey || event.metaKey)) approve();
});

// --- an open finding needs the key twice

const ARMED = 4000; // so long the second press counts, and so long the button says so
const pressed = (button) => {
  if (!button || button.disabled) return;
  if ("twice" in button.dataset && !button.matches(".armed")) {
    button.classList.add("armed");
    setTimeout(() => button.classList.remove("armed"), ARMED);
    return;
  }
  if (button.form && !button.form.checkValidity()) {
    show("edit");
    button.form.reportValidity();
    return;
  }
  button.click();
};
const approve = () => pressed(one("[data-approve]"));

// --- the next review is there before it is asked for

const ready = new Map();
const part = async (url, name, more = {}) => {
  const answer = await fetch(url, { ...more, headers: { "X-Part": name } });
  if (answer.redirected || (!answer.ok && answer.status !== 409)) throw new Error("not a part of a page");
  return answer;
};
const preload = () => {
  const next = one("[data-next]");
  if (!next || ready.has(next.href)) return;
  ready.clear();
  const coming = part(next.href, "case").then(async (answer) => (coming.html = await answer.text()));
  ready.set(next.href, coming);
  coming.catch(() => ready.clear());
};
const markCurrent = () => {
  const current = caseOf()?.dataset.review;
  all(".item[data-review]").forEach((row) => row.toggleAttribute("aria-current", false));
  const row = current && one(`.item[data-review="${CSS.escape(current)}"]`);
  if (!row) return;
  row.setAttribute("aria-current", "true");
  row.scrollIntoView({ block: "nearest" });
};
const swapCase = (html, path) => {
  const fresh = parsed(html).querySelector("article.case");
  if (!fresh) throw new Error("not a review");
  (caseOf() ?? one(".case-empty")).replaceWith(fresh);
  if (path) history.pushState({ review: true }, "", path);
  document.title = `${one("#subject").textContent.trim()} · Deskhand`;
  setUpCase();
  markCurrent();
  one("#subject").focus({ preventScroll: true });
};
const openReview = async (path, { fresh = false, push = true, instead = path } = {}) => {
  const url = new URL(path, location.href);
  await keep();
  const known = fresh ? undefined : ready.get(url.href);
  try {
    const html = await (known ?? part(url.href, "case").then((answer) => answer.text()));
    swapCase(html, push ? url.href : null);
  } catch {
    location.href = new URL(instead, location.href).href;
  }
};

// --- a decision, and on to the next

const say = (html, pause) => {
  one(".toasts").replaceChildren(...parsed(html).body.childNodes);
  tick();
  followToast(pause);
};
// Until the reply waits to leave: only then can the toast count down and offer to undo it.
const followToast = (pause = 400) => {
  const toast = one("[data-again]");
  if (toast) setTimeout(() => sayAgain(toast, Math.min(2 * pause, 10000)), pause);
};
const sayAgain = async (toast, pause) => {
  let html = "";
  try {
    if (toast.isConnected) html = await (await part(toast.dataset.again, "toast")).text();
  } catch {
    setTimeout(() => sayAgain(toast, Math.min(2 * pause, 10000)), pause);
  }
  if (html && toast.isConnected) say(html, pause); // and not where another was said meanwhile
};
const PAUSE = 400; // a key pressed once too often must not approve what nobody has read
const rest = () => {
  const button = one("[data-approve]");
  if (!button || button.disabled) return;
  button.disabled = true;
  setTimeout(() => (button.disabled = false), PAUSE);
};
// The next review stands there at once, and the server is told meanwhile. Returns how to go back.
const STAYS = /\/(undo|attach|note|assign)$/;
const goAhead = (path, review) => {
  const next = one("[data-next]");
  const html = next && ready.get(next.href)?.html;
  if (!html || !/<article class="case"[^>]* data-watch=/.test(html) || STAYS.test(path)) return null;
  const left = caseOf();
  const from = location.href;
  const row = one(`.queue .item[data-review="${CSS.escape(review)}"]`)?.closest("li");
  const below = row?.nextElementSibling;
  row?.remove();
  swapCase(html, next.href);
  oneLess();
  rest();
  return () => {
    if (row && below?.isConnected) below.before(row);
    caseOf().replaceWith(left);
    history.replaceState({ review: true }, "", from);
    markCurrent();
  };
};
const decide = async (form, button) => {
  const body = new URLSearchParams(new FormData(form, button));
  const review = caseOf()?.dataset.review;
  clearTimeout(keeping);
  const text = one("[data-keep]");
  if (text) kept = fieldsOf(text.form); // the decision brings what was typed
  all(".act button, .toast button").forEach((other) => (other.disabled = true));
  button?.classList.add("busy");
  const to = button?.hasAttribute("formaction") ? button.formAction : form.action;
  const answering = part(to, "case", { method: "POST", body });
  answering.catch(() => null); // it is awaited below
  const goBack = form.closest(".toast") ? null : goAhead(new URL(to, location.href).pathname, review);
  let answer;
  try {
    answer = await answering;
  } catch (error) {
    goBack?.();
    throw error;
  }
  const html = await answer.text();
  if (answer.status === 409) {
    if (goBack) await keep();
    goBack?.();
    return swapCase(html, null);
  }
  if (goBack) return say(html);
  const place = answer.headers.get("X-Place");
  const next = new URL(place, location.href);
  if (next.pathname === new URL(home()).pathname) return void (location.href = place); // that page says it: an undo here would be lost
  say(html);
  next.searchParams.delete("done");
  next.searchParams.delete("how");
  const stays = review && next.pathname.endsWith(`/${review}`);
  const decided = !stays && !form.closest(".toast"); // an undo leaves the review that is open as it is
  if (decided && review) one(`.queue .item[data-review="${CSS.escape(review)}"]`)?.closest("li").remove();
  await openReview(next.href, { fresh: Boolean(stays), push: !stays, instead: place });
  if (decided) oneLess();
  if (!stays) rest();
};
const oneLess = () => {
  const place = one("[data-position]");
  if (!place || !place.isConnected) return;
  const { number, total, words } = place.dataset;
  place.textContent = words.replace("{number}", Math.max(1, number - 1)).replace("{total}", Math.max(1, total - 1));
};
addEventListener("submit", (event) => {
  const form = event.target;
  const hasFiles = [...form.elements].some((field) => field.type === "file" && field.files.length);
  if (!form.closest(".case, .toast") || !caseOf() || hasFiles || form.method !== "post" || "plain" in form.dataset) return;
  event.preventDefault();
  decide(form, event.submitter).catch(() => {
    all("button").forEach((button) => (button.disabled = false));
    event.submitter?.removeAttribute("disabled");
    HTMLFormElement.prototype.submit.call(form);
  });
});
addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-next], [data-previous], .queue .item");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || matchMedia("(max-width: 68rem)").matches) return;
  if (!one(".triage")) return;
  event.preventDefault();
  document.body.classList.replace("view-list", "view-item");
  openReview(link.href);
});
addEventListener("popstate", () => (caseOf() && location.pathname !== new URL(home()).pathname ? openReview(location.href, { push: false }) : location.reload()));

const showActions = () => all("[data-with-script], [data-insert], [data-take-out], [data-instead]").forEach((shown) => (shown.hidden = false));
// A toast stands above the buttons, in however many rows they are.
const acting = new ResizeObserver(([{ target }]) => document.body.style.setProperty("--act", `${target.offsetHeight}px`));
const setUpCase = () => {
  acting.disconnect();
  acting.observe(one(".case > .act"));
  showActions();
  const draft = one("[data-draft]");
  if (draft) show(draft.dataset.draft);
  const text = one("[data-keep]");
  kept = text ? fieldsOf(text.form) : "";
  tellTimes();
  tick();
  preload();
  if (typeof follow === "function") follow();
};
