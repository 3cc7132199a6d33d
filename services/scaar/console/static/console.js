"use strict";
// Live answers, words by arrow keys, the what-if slider, and copying. Pages work without this file.
(() => {
  const form = document.getElementById("ask");
  const live = document.getElementById("live");
  const stop = document.getElementById("stop");

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  // Events of a response of server-sent events.
  async function* eventsOf(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const name = /^event: (.*)$/m.exec(part);
        const data = /^data: (.*)$/m.exec(part);
        if (name && data) yield [name[1], JSON.parse(data[1])];
      }
    }
  }

  // The words of a draft are one stop of the tab key: arrow keys move between them.
  const moveByArrows = (within) => {
    for (const group of within.querySelectorAll("[data-moved]")) {
      const [first, ...rest] = group.querySelectorAll(".tip");
      for (const each of rest) each.tabIndex = -1;
      if (first) first.tabIndex = 0;
    }
    for (const each of within.querySelectorAll("[data-keys]")) each.hidden = false;
    return within;
  };

  document.addEventListener("keydown", (event) => {
    const tip = event.target.closest?.("[data-moved] .tip");
    if (!tip) return;
    if (event.key === "Escape") tip.blur();
    const tips = [...tip.closest("[data-moved]").querySelectorAll(".tip")];
    const at = tips.indexOf(tip);
    const next = { ArrowRight: tips[at + 1], ArrowLeft: tips[at - 1], Home: tips[0], End: tips.at(-1) }[event.key];
    if (!next) return;
    event.preventDefault();
    tip.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });

  const show = (html) => {
    // The server's own template, which escapes every text; a template element runs no script.
    const parsed = document.createElement("template");
    parsed.innerHTML = html;
    return moveByArrows(parsed.content);
  };

  async function ask(controller) {
    const place = element("div");
    const answer = element("div");
    live.replaceChildren(answer, place);
    answer.append(element("p", "The model answers…", "faint"));
    let draft, section, reading;
    const begin = (heading) => {
      if (section?.firstChild.textContent === heading) return;
      if (!section) place.append(element("h2", "What it did, and why"));
      section = element("section", "", "sentence");
      section.append(element("h3", heading));
      place.append(section);
      draft = null;
    };
    const body = new URLSearchParams(new FormData(form));
    const response = await fetch("/ask", { method: "POST", body, signal: controller.signal });
    if (!response.ok) {
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const notice = page.querySelector(".notice");
      throw new Error(notice ? notice.textContent : `status ${response.status}`);
    }
    for await (const [name, data] of eventsOf(response)) {
      // How much is still to be read is shown until something else happens.
      reading?.remove();
      if (name === "reading") {
        begin(data.heading);
        reading = element("p", data.text, "drafting reading");
        reading.setAttribute("aria-hidden", "true");
        section.append(reading);
      } else if (name === "token") {
        begin(data.heading);
        if (!draft) {
          draft = element("p", "", "drafting");
          draft.setAttribute("aria-hidden", "true");
          draft.append(element("bdi"));
          section.append(draft);
        }
        draft.firstChild.textContent += data.text;
      } else if (name === "block") {
        begin(data.heading);
        if (draft) draft.remove();
        draft = null;
        section.append(show(data.html));
      } else if (name === "answer") {
        answer.replaceChildren(show(data.html));
      } else if (name === "reason") {
        place.querySelector("h2")?.after(show(data.html));
      } else if (name === "usage") {
        place.append(element("h2", "Usage"), show(data.html));
      } else if (name === "done") {
        const line = element("p");
        const link = element("a", "The record of this answer");
        link.href = data.record;
        line.append(link);
        answer.append(line);
      } else if (name === "failed") {
        throw new Error(data.message);
      }
    }
  }

  if (form && live && window.TextDecoderStream) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const button = form.querySelector("button[type=submit]");
      const controller = new AbortController();
      const abort = () => controller.abort();
      button.disabled = true;
      stop.hidden = false;
      stop.addEventListener("click", abort);
      try {
        await ask(controller);
      } catch (error) {
        const text = error.name === "AbortError" ? "Stopped." : error.message;
        live.prepend(element("p", text, "notice"));
      } finally {
        live.querySelector(".reading")?.remove();
        stop.removeEventListener("click", abort);
        stop.hidden = true;
        button.disabled = false;
      }
    });
  }

  // Runs before the form is sent: slider and number show the same threshold.
  document.addEventListener("input", ({ target }) => {
    const of = (id) => document.getElementById(id);
    if (target.id === "what-if-theta") of("what-if-number").value = Number(Number(target.value).toPrecision(3));
    if (target.id === "what-if-number") of("what-if-theta").value = target.value;
  });

  moveByArrows(document);

  for (const text of document.querySelectorAll("pre.copyable")) {
    if (!navigator.clipboard) break;
    const button = element("button", "Copy", "quiet");
    button.type = "button";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    });
    text.before(button);
  }
})();
