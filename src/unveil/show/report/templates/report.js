"use strict";
(() => {
  // Tabs: all panels are there without this script and on paper; with it, one at a time.
  const list = document.querySelector('[role="tablist"]');
  const tabs = list ? [...list.querySelectorAll('[role="tab"]')] : [];
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const select = (chosen) => {
    for (const tab of tabs) {
      const here = tab === chosen;
      tab.setAttribute("aria-selected", String(here));
      tab.tabIndex = here ? 0 : -1;
      panelOf(tab).hidden = !here;
    }
  };
  const followHash = () => {
    const wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const panel = wanted && wanted.closest(".panel[data-tab]");
    if (panel && panel.hidden) {
      select(document.getElementById(panel.dataset.tab));
      wanted.scrollIntoView();
    }
  };
  if (list) {
    list.hidden = false;
    for (const tab of tabs) {
      const panel = panelOf(tab);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      panel.tabIndex = 0;
      tab.addEventListener("click", () => select(tab));
    }
    list.addEventListener("keydown", (event) => {
      const at = tabs.indexOf(document.activeElement);
      const last = tabs.length - 1;
      const next = {
        ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last,
      }[event.key];
      if (at < 0 || next === undefined) return;
      event.preventDefault();
      select(tabs[next]);
      tabs[next].focus();
    });
    select(tabs[0]);
    followHash();
    addEventListener("hashchange", followHash);
  }

  // Slider: walks through the rows of the table below the curve; nothing is interpolated.
  for (const box of document.querySelectorAll("div.curve")) {
    const range = box.querySelector("input");
    const output = box.querySelector("output");
    const names = [...box.querySelectorAll("thead th")].map((cell) => cell.textContent);
    const rows = [...box.querySelectorAll("tbody tr")];
    const cursor = box.querySelector(".cursor");
    const dot = box.querySelector(".chosen use");
    const values = rows.map((row) => Number(row.dataset.x));
    const show = () => {
      const row = rows[range.valueAsNumber];
      const texts = [...row.cells].map((cell) => cell.textContent);
      output.replaceChildren(...names.map((name, k) => {
        const label = document.createElement("b");
        label.textContent = name;
        const item = document.createElement("span");
        item.append(label, texts[k]);
        return item;
      }));
      range.setAttribute("aria-valuetext", names.map((name, k) => `${name} ${texts[k]}`).join(", "));
      rows.forEach((one) => one.classList.toggle("here", one === row));
      const x = `${values[range.valueAsNumber]}%`;
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      if (dot) {
        dot.setAttribute("x", x);
        dot.setAttribute("y", `${100 - 100 * Number(row.dataset.rate || 0)}%`);
        dot.style.display = row.dataset.rate === undefined ? "none" : "";
      }
    };
    box.querySelector(".slider").hidden = false;
    range.addEventListener("input", show);
    show();
  }

  // Contents: the section that is being read.
  const links = new Map([...document.querySelectorAll(".contents > ol > li > a")].map((a) => [a.hash.slice(1), a]));
  if ("IntersectionObserver" in window) {
    const watcher = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        links.forEach((a) => a.removeAttribute("aria-current"));
        links.get(target.getAttribute("aria-labelledby"))?.setAttribute("aria-current", "true");
      }
    }, { rootMargin: "-10% 0px -80% 0px" });
    document.querySelectorAll("main > section").forEach((section) => watcher.observe(section));
  }

  // Details: all at once, for reading on and for paper, where those that are closed are left out.
  const all = document.getElementById("open-all");
  if (all) {
    all.hidden = false;
    all.addEventListener("click", () => {
      const open = all.getAttribute("aria-pressed") !== "true";
      document.querySelectorAll("details").forEach((one) => { one.open = open; });
      all.setAttribute("aria-pressed", String(open));
    });
  }
})();
