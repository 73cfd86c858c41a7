"use strict";
// The pages work without this, but for picking files: it copies files, counts uniques, and follows the work.
const secret = document.querySelector('meta[name="csrf"]').content;
const send = (path, body) => fetch(path, {method: "POST", headers: {"X-Csrf": secret}, body});

// What is to correct is read first.
const problems = document.getElementById("problems");
if (problems) problems.focus();

// A file that is picked is copied at once; the form names what was copied.
for (const field of document.querySelectorAll(".file")) {
  const role = field.dataset.role;
  const names = field.querySelector(".names");
  const remove = field.querySelector(".remove");
  const says = (text, isWrong) => {
    names.textContent = text;
    names.classList.toggle("wrong", isWrong);
  };
  const shown = (known) => {
    says(known.length ? `Copied: ${known.join(", ")}` : "", false);
    remove.hidden = !known.length;
  };
  field.querySelector("input[type=file]").addEventListener("change", async (event) => {
    for (const file of event.target.files) {
      says(`${file.name} is being copied`, false);
      try {
        const answer = await send(`/copies/${role}?name=${encodeURIComponent(file.name)}`, file);
        if (answer.ok) shown(await answer.json());
        else { says(`Correct: ${await answer.text()}`, true); break; }
      } catch { says(`Correct: ${file.name} could not be copied; name it by its path`, true); break; }
    }
    event.target.value = "";
    // One file: what was picked last counts.
    if (!event.target.multiple) field.querySelector("input[type=text]").value = "";
  });
  remove.addEventListener("click", async () => {
    shown(await (await send(`/copies/${role}/remove`)).json());
    field.querySelector("input[type=file]").focus();
  });
}

// A button says what it does while the answer is waited for, and works once.
for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "yes";
    if (button && button.dataset.busy) {
      button.setAttribute("aria-disabled", "true");
      button.textContent = `${button.dataset.busy} …`;
    }
  });
}

// How many persons the keys single out, whenever they change.
const question = document.getElementById("question");
if (question) {
  const uniques = document.getElementById("uniques");
  let asked = 0;
  const count = async () => {
    const mine = ++asked;
    const answer = await send("/uniques", new URLSearchParams(new FormData(question)));
    const text = await answer.text();
    if (mine === asked) uniques.textContent = text;
  };
  question.addEventListener("change", (event) => { if (/^(role|groups)\./.test(event.target.name)) count(); });
  count();
}

// The state of the work, and the report whenever there is a better one.
const bar = document.getElementById("bar");
if (bar) {
  const said = document.getElementById("state");
  const news = document.getElementById("news");
  let pages = document.getElementById("kept").hidden ? 0 : 1;
  const follow = async () => {
    let state;
    try { state = await (await fetch("/state")).json(); } catch {
      said.textContent = "The program has ended; start it again.";
      return;
    }
    if (state.status !== "running") { location.reload(); return; }
    bar.max = state.total || 1;
    bar.value = state.done;
    const text = state.total ? `${state.done} of ${state.total}: ${state.part}` : "The files are being read";
    if (said.textContent !== text) said.textContent = text;
    if (state.pages > pages) {
      document.getElementById("report").src = "/report";
      document.getElementById("kept").hidden = false;
      pages = state.pages;
    }
    document.getElementById("found").hidden = !state.news.length;
    news.replaceChildren(...state.news.map((line) => Object.assign(document.createElement("li"), {textContent: line})));
    setTimeout(follow, 700);
  };
  follow();
}
