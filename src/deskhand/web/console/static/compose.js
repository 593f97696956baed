// The box under a thread: a reply or a note, passages, canned replies, and the desk's own draft.
"use strict";
(() => {
  const form = document.querySelector(".compose");
  if (!form) return;
  const box = one("[data-compose]", form);
  const said = one("[data-said]", form);

  // --- a reply or a note

  const write = (what) => {
    form.classList.toggle("noting", what === "note");
    all("[data-as]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.as === what)));
    box.placeholder = what === "note" ? box.dataset.note : box.dataset.reply;
  };
  form.classList.add("chooses");
  write("reply");
  form.addEventListener("click", (event) => {
    const choice = event.target.closest("[data-as]");
    if (!choice) return;
    write(choice.dataset.as);
    box.focus();
  });
  addEventListener("compose", (event) => {
    write(event.detail);
    box.focus();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    one(form.classList.contains("noting") ? "[data-keep-note]" : "[data-send]", form)?.click();
  });

  // --- passages of articles

  form.addEventListener("toggle", (event) => event.target.matches("[data-passages]") && event.target.open && one("[data-ask]", form).focus(), true);
  const find = async () => {
    const place = one("#passages");
    const asked = one("[data-ask]", form).value.trim();
    if (!asked) return;
    place.classList.add("busy");
    try {
      const answer = await fetch(`${form.dataset.place}?passages=${encodeURIComponent(asked)}`);
      const fresh = parsed(await answer.text()).getElementById("passages");
      if (answer.ok && fresh) place.replaceWith(fresh);
      all("#passages [data-insert]").forEach((button) => (button.hidden = false));
    } finally {
      place.classList.remove("busy");
    }
  };
  one("[data-look]", form)?.addEventListener("click", (event) => {
    event.preventDefault();
    find();
  });
  one("[data-ask]", form)?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    find();
  });
  all("[data-insert]").forEach((button) => (button.hidden = false));

  // --- the desk writes, and one sees it write

  const draft = one("[data-draft-it]", form);
  const lines = async function* (answer) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const whole = (rest + value).split("\n");
      rest = whole.pop();
      yield* whole.filter(Boolean).map((line) => JSON.parse(line));
    }
  };
  const letDraft = async () => {
    const before = box.value.trim() ? `${box.value.trimEnd()}\n\n` : "";
    box.readOnly = true;
    draft.disabled = true;
    form.classList.add("drafting");
    said.textContent = said.dataset.writing;
    try {
      const body = new URLSearchParams({ csrf: form.elements.csrf.value });
      const answer = await part(draft.formAction, "draft", { method: "POST", body });
      for await (const line of lines(answer)) {
        if (line.problem) throw new Error(line.problem);
        if (line.text !== undefined) box.value = before + line.text;
        box.scrollTop = box.scrollHeight;
      }
      said.textContent = said.dataset.unchecked;
    } catch (error) {
      box.value = before.trimEnd();
      said.textContent = error.message;
    } finally {
      box.readOnly = false;
      draft.disabled = false;
      form.classList.remove("drafting");
      box.focus();
    }
  };
  draft?.addEventListener("click", (event) => {
    event.preventDefault();
    write("reply");
    letDraft();
  });
})();
