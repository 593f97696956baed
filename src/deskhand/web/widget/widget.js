const script = document.currentScript;
const base = new URL(".", script.src).href;
const place = `deskhand:${base}`;
const RIGHT_TO_LEFT = ["ar", "fa", "he", "ur"];
const MOST_FILES = 3;
const LARGEST_FILE = 5 * 1024 * 1024;
const FILE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"];
const ICONS = {
  chat: "M5 5h14a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-6l-5 4v-4H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2z",
  clip: "m19 11-7.3 7.3a4.3 4.3 0 0 1-6-6L13 5a2.9 2.9 0 0 1 4 4l-7.2 7.3a1.4 1.4 0 0 1-2-2L14 8",
  down: "m7 10 5 5 5-5",
  send: "m4 12 16-8-5 17-4-7zm7 2 9-10",
  smile: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17M8.5 14c.8 1.3 2 2 3.5 2s2.7-.7 3.5-2M9 9.5v.01M15 9.5v.01",
  up: "M7 11v9H4v-9zm0 0 4-7c1.5 0 2.5 1 2.2 2.6L12.6 10H19a1.5 1.5 0 0 1 1.5 1.8l-1.3 6.8A1.8 1.8 0 0 1 17.4 20H7",
  thumb_down: "M7 13V4H4v9zm0 0 4 7c1.5 0 2.5-1 2.2-2.6L12.6 14H19a1.5 1.5 0 0 0 1.5-1.8l-1.3-6.8A1.8 1.8 0 0 0 17.4 4H7",
  cross: "M6 6l12 12M18 6 6 18",
};

// --- what is remembered on this device

const kept = (storage, empty) => {
  try {
    return JSON.parse(window[storage].getItem(place)) || empty;
  } catch {
    return empty;
  }
};
const remembered = () => kept("localStorage", {});
let memory = remembered();
const remember = (changes) => {
  memory = { ...remembered(), ...changes };
  try {
    localStorage.setItem(place, JSON.stringify(memory));
  } catch {
    return; // a browser that keeps nothing: the chat ends with the page
  }
};

// --- small parts of a page

const make = (name, properties = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};
const icon = (name) => {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
};
const linked = (text) => // text as nodes: links of the desk can be followed, nothing else is markup
  text.split(/(https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)])/).map((part, index) =>
    index % 2 ? make("a", { href: part, target: "_blank", rel: "noopener noreferrer nofollow" }, part) : part
  );
const channel = (hex, start) => {
  const value = parseInt(hex.slice(start, start + 2), 16) / 255;
  return value <= 0.04 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
};
const brightness = (hex) => 0.2126 * channel(hex, 1) + 0.7152 * channel(hex, 3) + 0.0722 * channel(hex, 5);

const newToken = () => // 32 random bytes, in base64 for URLs: a first message that is sent again opens one chat
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32)))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");

// --- requests

const ask = async (path, body, token = memory.token) => {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const options = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(base + path, { ...options, credentials: "omit", referrerPolicy: "no-referrer" });
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(reason(data) || answer.statusText), { status: answer.status });
  return data;
};
const reason = (data) => (data.errors?.length ? data.errors.map((error) => error.problem || error.message).join(" ") : data.detail);

const begin = async () => {
  const settings = await ask("settings");
  const wanted = (script.dataset.lang || document.documentElement.lang || navigator.language || "").slice(0, 2).toLowerCase();
  const language = settings.languages.includes(wanted) ? wanted : settings.languages[0];
  const words = { ...WORDS.en, ...WORDS[language], title: settings.title, ...settings.words[language] };
  const say = (key, values = {}) => words[key].replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  const clock = (iso) => {
    const moment = new Date(iso);
    const today = moment.toDateString() === new Date().toDateString();
    const shape = today ? { timeStyle: "short" } : { weekday: "long", hour: "numeric", minute: "2-digit" };
    return new Intl.DateTimeFormat(language, { ...shape, timeZone: settings.time_zone }).format(moment);
  };

  // --- the panel

  const host = make("div", { "data-deskhand-chat": "" });
  const shadow = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS_TEXT);
  shadow.adoptedStyleSheets = [sheet];
  host.style.setProperty("--accent", settings.colour);
  const bright = brightness(settings.colour);
  host.style.setProperty("--on", 1.05 / (bright + 0.05) >= 4.5 ? "#fff" : "#111");
  host.style.setProperty("--focus", "light-dark(#0b57d0, #a8c7fa)");

  const badge = make("span", { class: "new", hidden: true });
  const launch = make("button", { class: "launch", type: "button", "aria-expanded": "false", onclick: () => open(true) }, icon("chat"), say("launch"), badge);
  const face = make("span", { class: "av", "aria-hidden": "true" });
  const title = make("b");
  const subtitle = make("small");
  const log = make("div", { class: "log", role: "log", "aria-live": "polite", "aria-label": say("log"), tabindex: "0" });
  const alert = make("p", { class: "alert", role: "alert", hidden: true });
  const picked = make("div", { class: "picked", hidden: true });
  const input = make("textarea", { rows: "1", "aria-label": say("placeholder"), placeholder: say("placeholder"), maxlength: String(settings.longest_message), dir: "auto" });
  const chooser = make("input", { type: "file", multiple: true, accept: FILE_TYPES.join(","), hidden: true, tabindex: "-1", "aria-hidden": "true" });
  const form = make("form", { class: "say" }, input,
    make("button", { type: "button", "aria-label": say("attach"), onclick: () => chooser.click() }, icon("clip")), chooser,
    make("button", { class: "go", "aria-label": say("send") }, icon("send")));
  const person = make("button", { type: "button", onclick: () => askForPerson() }, say("person"));
  const transcript = make("button", { type: "button", onclick: () => askForAddress("transcript") }, say("transcript"));
  const fine = make("div", { class: "fine" }, say("privacy") ? make("span", {}, say("privacy")) : transcript, person);
  if (say("privacy")) fine.insertBefore(transcript, person);
  const panel = make("section", { class: "panel", role: "region", "aria-label": say("region", { title: say("title") }), hidden: true },
    make("header", {}, face, make("div", {}, title, subtitle), make("button", { type: "button", "aria-label": say("close"), onclick: () => open(false) }, icon("down"))),
    log, make("footer", {}, alert, picked, form, fine));
  const root = make("div", { class: "root", lang: language, dir: RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr" }, launch, panel);
  shadow.append(root);
  document.body.append(host);

  const hours = (people) => {
    if (people.here && people.until) return say("people_here", { time: clock(people.until) });
    return people.back_at ? say("people_back", { time: clock(people.back_at) }) : say("subtitle");
  };
  const head = (name) => {
    face.replaceChildren(name ? name.split(/\s+/).map((part) => part[0]).slice(0, 2).join("").toUpperCase() : icon("smile"));
    title.textContent = name || say("title");
    subtitle.textContent = name ? `${say("title")}, ${say("self")}` : hours(settings.people);
  };
  const warn = (text) => {
    alert.hidden = !text;
    alert.textContent = text || "";
  };
  const down = () => (log.scrollTop = log.scrollHeight);

  // --- lines

  let last = 0;
  let author = "";
  let unread = 0;
  let colleague = "";
  let newestOwn = "";
  const waiting = new Map();
  const typing = make("div", { class: "b typing", role: "status", "aria-label": say("typing"), hidden: true }, make("i"), make("i"), make("i"));
  const add = (...nodes) => {
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
    const [unsent] = waiting.values();
    (unsent || typing).before(...nodes); // what the server has stands before what it has not
    if (atEnd) down();
  };
  const fileLines = (files) => (files || []).map((file) => make("span", { class: "file" }, icon("clip"), " ", file.name));
  const note = (text) => {
    author = "";
    add(make("p", { class: "note" }, text));
  };
  const thumbs = (number, chosen) => {
    const box = make("div", { class: "thumbs" });
    const rate = async (thumb) => {
      try {
        await ask("thumb", { line: number, thumb });
        [...box.querySelectorAll("button")].forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.thumb === thumb)));
      } catch {
        warn(say("failed"));
      }
    };
    for (const [thumb, label, shape] of [["up", "helped", "up"], ["down", "not_helped", "thumb_down"]])
      box.append(make("button", { type: "button", "data-thumb": thumb, title: say(label), "aria-label": say(label), "aria-pressed": String(chosen === thumb), onclick: () => rate(thumb) }, icon(shape)));
    return box;
  };
  const show = (number, line) => {
    if (number <= last) return;
    last = number;
    if (line.author === "visitor") {
      waiting.get(line.id)?.remove();
      waiting.delete(line.id);
      newestOwn = line.text;
      author = "visitor";
      add(make("div", { class: "b me", dir: "auto" }, line.text, ...fileLines(line.files)));
      return;
    }
    typing.hidden = true;
    const name = line.author === "person" ? line.name : say("assistant");
    if (author !== name) add(make("p", { class: "by" }, name));
    author = name;
    add(make("div", { class: "b", dir: "auto" }, ...linked(line.text), ...fileLines(line.files)));
    log.querySelector(".thumbs:not(:has([aria-pressed=true]))")?.remove();
    if (line.author === "desk") add(thumbs(number, line.thumb));
    if (panel.hidden && number > (memory.seen || 0)) {
      unread += 1;
      badge.hidden = false;
      badge.replaceChildren(make("span", { class: "vh" }, `${say("unread")} `), String(unread));
    } else seen();
  };
  const seen = () => {
    if (!panel.hidden && last > (memory.seen || 0)) remember({ seen: last });
  };

  // --- cards: an address, a code

  const card = (name, ...children) => {
    log.querySelector(`[data-card=${name}]`)?.remove();
    const box = make("form", { class: "card", "data-card": name, novalidate: true }, ...children);
    box.addEventListener("submit", (event) => event.preventDefault());
    add(box);
    down();
    return box;
  };
  const askForAddress = (why) => {
    const field = make("input", { type: "email", autocomplete: "email", required: true, dir: "ltr" });
    const problem = make("p", { class: "err", role: "alert", hidden: true });
    const button = make("button", { class: "pick main" }, say(why === "transcript" ? "do_send" : "keep"));
    const box = card(why, why === "answer" ? make("p", {}, say("leave")) : null, make("label", {}, say("mail"), field), problem, button);
    box.addEventListener("submit", async () => {
      const address = field.value.trim();
      try {
        await ask(why === "transcript" ? "transcript" : "address", { address });
        box.remove();
        note(say(why === "transcript" ? "transcript_sent" : "kept", { address }));
      } catch (error) {
        problem.hidden = false;
        problem.textContent = error.status === 429 ? say("busy") : error.status === 422 ? error.message : say("failed");
      }
    });
    if (why === "transcript") field.focus();
  };
  const handedOver = async () => {
    if (colleague) return;
    const people = await ask("people").catch(() => settings.people);
    const text = people.here ? say("asked") : say("away", { time: people.back_at ? clock(people.back_at) : "…" });
    if (log.querySelector("[data-handed]")) return;
    note(text);
    log.querySelector(".note:last-of-type")?.setAttribute("data-handed", "");
    if (!people.here) askForAddress("answer");
  };
  const offerProof = (order) => {
    if (log.querySelector(`[data-card=proof][data-order="${CSS.escape(order)}"]`)) return;
    const problem = make("p", { class: "err", role: "alert", hidden: true });
    const words = make("p", {}, say("prove", { order }));
    const button = make("button", { class: "pick main" }, say("prove_send"));
    const box = card("proof", words, problem, button);
    box.dataset.order = order;
    const fail = (text) => {
      problem.hidden = !text;
      problem.textContent = text || "";
    };
    const told = (error) => fail(say(error.status === 503 ? "mail_away" : error.status === 429 ? "busy" : error.status === 410 ? "code_over" : error.status === 403 ? "code_wrong" : "failed"));
    const mail = async () => {
      try {
        await ask("code", { order });
        fail("");
        enter();
      } catch (error) {
        told(error);
      }
    };
    const enter = () => {
      const field = make("input", { class: "code", inputmode: "numeric", autocomplete: "one-time-code", maxlength: "9", dir: "ltr" });
      const again = make("button", { type: "button", class: "pick", onclick: mail }, say("code_again"));
      const cannot = make("button", { type: "button", class: "pick", onclick: () => askForPerson() }, say("no_mail"));
      box.replaceChildren(make("p", {}, say("prove_sent", { order })), make("label", {}, say("code"), field), make("small", {}, say("valid")), problem,
        make("div", { class: "row" }, make("button", { class: "pick main" }, say("check")), again, cannot));
      box.dataset.entering = "";
      field.focus();
      down();
    };
    box.addEventListener("submit", async () => {
      if (!("entering" in box.dataset)) return mail();
      try {
        await ask("proof", { order, code: box.querySelector("input").value.replace(/\D/g, "") });
        const text = newestOwn;
        box.replaceChildren(make("p", {}, say("proven", { order })));
        if (text) box.append(make("button", { type: "button", class: "pick", onclick: (event) => (event.target.remove(), send(text)) }, say("go_on", { text: text.slice(0, 80) })));
        down();
      } catch (error) {
        told(error);
      }
    });
  };
  const askForPerson = async () => {
    try {
      if (!memory.token) return send(say("wish"));
      settings.people = await ask("person", { id: crypto.randomUUID(), text: say("wish") });
      listen();
    } catch (error) {
      warn(say(error.status === 429 ? "busy" : "failed"));
    }
  };

  // --- sending: what was not taken yet is kept, and sent again under the same id

  let queue = kept("sessionStorage", []);
  const pending = () => queue;
  const enqueue = (messages) => {
    queue = messages;
    try {
      sessionStorage.setItem(place, JSON.stringify(queue));
    } catch {
      return; // too large to be kept: it is sent as long as the page stays open
    }
  };
  const drop = (id) => enqueue(queue.filter((message) => message.id !== id));
  const bubble = (message) => {
    if (waiting.has(message.id)) return;
    const mark = make("span", { class: "vh" }, ` (${say("unsent")})`);
    const element = make("div", { class: "b me wait", dir: "auto" }, message.text, ...fileLines(message.files), mark);
    waiting.set(message.id, element);
    author = "visitor";
    typing.before(element);
    down();
  };
  let sending = false;
  let tries = 0;
  const deliver = async () => {
    if (sending) return;
    sending = true;
    try {
      for (let message = pending()[0]; message; message = pending()[0]) {
        const body = { id: message.id, text: message.text || say("with_files"), login: login() };
        if (memory.token) body.chat = memory.token;
        body.opens = message.opens;
        if (message.files) body.files = message.files;
        const taken = await ask("say", body, null);
        tries = 0;
        drop(message.id);
        if (taken.new_chat) {
          if (memory.token && memory.token !== taken.chat) clear();
          remember({ token: taken.chat });
        }
        warn("");
        listen();
      }
    } catch (error) {
      undelivered(error);
    } finally {
      sending = false;
    }
  };
  const undelivered = (error) => {
    const first = pending()[0];
    if (error.status === 401 && memory.token) {
      remember({ token: undefined, seen: 0 });
      clear();
      pending().forEach(bubble);
      sending = false;
      return setTimeout(deliver, 0);
    }
    if (!error.status || error.status >= 500 || error.status === 429) {
      warn(say(error.status === 429 ? "busy" : "offline"));
      tries += 1;
      return setTimeout(deliver, Math.min(30000, 500 * 2 ** tries));
    }
    if (first) {
      drop(first.id);
      waiting.get(first.id)?.remove();
      waiting.delete(first.id);
      input.value = first.text;
    }
    warn(say("refused", { why: error.message }));
  };
  const login = () => script.dataset.login || undefined;
  const clear = () => {
    last = 0;
    author = "";
    waiting.clear();
    log.replaceChildren(typing);
    stopListening();
  };
  const send = (text, files) => {
    const message = { id: crypto.randomUUID(), opens: newToken(), text };
    if (files?.length) message.files = files;
    enqueue([...queue, message]);
    bubble(message);
    return deliver();
  };

  // --- files

  let chosen = [];
  const showChosen = () => {
    picked.hidden = !chosen.length;
    picked.replaceChildren(...chosen.map((file) => make("span", {}, file.name, make("button", { type: "button", "aria-label": say("remove", { name: file.name }), onclick: () => ((chosen = chosen.filter((other) => other !== file)), showChosen()) }, icon("cross")))));
  };
  chooser.addEventListener("change", () => {
    warn("");
    for (const file of chooser.files) {
      if (file.size > LARGEST_FILE) warn(say("file_large", { name: file.name }));
      else if (!FILE_TYPES.includes(file.type)) warn(say("file_kind", { name: file.name }));
      else if (chosen.length >= MOST_FILES) warn(say("file_many"));
      else chosen.push(file);
    }
    chooser.value = "";
    showChosen();
  });
  const encoded = (file) =>
    new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve({ name: file.name, content: reader.result.slice(reader.result.indexOf(",") + 1) });
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(file);
    });

  // --- listening: the server tells every line once; whoever comes back names the last one he has

  let stopping = null;
  let lost = 0;
  const stopListening = () => {
    stopping?.abort();
    stopping = null;
  };
  const listen = async () => {
    if (stopping || !memory.token) return;
    const mine = (stopping = new AbortController());
    const headers = { Authorization: `Bearer ${memory.token}`, "Last-Event-ID": String(last), Accept: "text/event-stream" };
    try {
      const answer = await fetch(`${base}events`, { headers, signal: mine.signal, cache: "no-store", credentials: "omit" });
      if (answer.status === 401) {
        remember({ token: undefined, seen: 0 });
        return;
      }
      if (!answer.ok) throw new Error(answer.statusText);
      lost = 0;
      if (!pending().length) warn("");
      await read(answer.body.getReader());
    } catch {
      if (mine.signal.aborted) return;
      lost += 1;
      if (lost > 1) warn(say("offline"));
    } finally {
      if (stopping === mine) stopping = null;
    }
    if (!mine.signal.aborted) setTimeout(listen, Math.min(20000, 400 * 2 ** lost));
  };
  const read = async (reader) => {
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = events.pop();
      events.forEach(take);
    }
  };
  const take = (text) => {
    const fields = Object.fromEntries(text.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
    if (!fields.event) return;
    const data = JSON.parse(fields.data);
    if (fields.event === "line") show(Number(fields.id), data);
    else if (fields.event === "typing") typing.hidden = Boolean(colleague);
    else if (fields.event === "person") {
      if (data.name && data.name !== colleague) note(say("joined", { name: data.name }));
      if (!data.name && colleague) note(say("left"));
      colleague = data.name || "";
      typing.hidden = true;
      person.hidden = Boolean(colleague);
      head(colleague);
    } else if (fields.event === "prove") offerProof(data.order);
    else if (fields.event === "state") {
      typing.hidden = true;
      if (data.state === "waits_for_person") handedOver();
    }
    if (!typing.hidden) down();
  };

  // --- what the visitor does

  const open = (opens, focuses = true) => {
    panel.hidden = !opens;
    launch.hidden = opens;
    launch.setAttribute("aria-expanded", String(opens));
    root.classList.toggle("on", opens);
    remember({ open: opens });
    if (!opens) return launch.focus();
    if (!focuses) return seen();
    unread = 0;
    badge.hidden = true;
    seen();
    down();
    input.focus();
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (!text && !chosen.length) return;
    const files = await Promise.all(chosen.map(encoded));
    chosen = [];
    showChosen();
    input.value = "";
    grow();
    warn("");
    send(text, files);
  });
  const grow = () => {
    input.style.height = "auto";
    input.style.height = `${Math.min(110, input.scrollHeight)}px`;
  };
  input.addEventListener("input", grow);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") open(false);
  });
  addEventListener("online", () => {
    tries = 0;
    lost = 0;
    deliver();
    listen();
  });
  addEventListener("storage", (event) => {
    if (event.key !== place) return;
    const before = memory.token;
    memory = remembered();
    if (memory.token && memory.token !== before) {
      clear();
      listen();
    }
  });

  log.append(typing);
  add(make("p", { class: "by" }, say("assistant")), make("div", { class: "b" }, say("greeting")));
  head("");
  pending().forEach(bubble);
  deliver();
  listen();
  if (memory.open) open(true, false);
  window.deskhandChat = { open: () => open(true), close: () => open(false) };
};

begin().catch((error) => console.warn(`The chat is not shown here: ${error.message}`));
