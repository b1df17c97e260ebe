"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const root = document.documentElement, box = at("search"), hits = at("hits");
  const items = [...document.querySelectorAll("article")];
  const around = [...document.querySelectorAll(".day, .seam")];
  const MOST = 5000;
  const said = JSON.parse(document.body.dataset.words);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (field, name) => values[name]);
  let marks = [], place = -1, opened = [];

  function clear() {
    for (const mark of marks) {
      const parent = mark.parentNode;
      mark.replaceWith(...mark.childNodes);
      parent.normalize();
    }
    for (const fold of opened) fold.open = false;
    marks = []; opened = []; place = -1;
  }

  function light(item, pattern) {
    const walker = document.createTreeWalker(item.querySelector(".body"), NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (let text of texts) {
      let last = 0;
      const parts = [];
      for (const found of text.data.matchAll(pattern)) {
        if (marks.length >= MOST) break;
        const mark = document.createElement("mark");
        mark.textContent = found[0];
        parts.push(text.data.slice(last, found.index), mark);
        last = found.index + found[0].length;
        marks.push(mark);
      }
      if (!parts.length) continue;
      for (let fold = text.parentElement.closest("details"); fold; fold = fold.parentElement.closest("details"))
        if (!fold.open && !text.parentElement.closest("summary")) { fold.open = true; opened.push(fold); }
      text.replaceWith(...parts, text.data.slice(last));
    }
  }

  function search() {
    clear();
    const words = box.value.split(/\s+/).filter(Boolean)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\\/-]/g, (letter) => letter === "-" ? "-" : "\\" + letter));
    const each = words.map((word) => new RegExp(word, "iu"));
    let shown = 0;
    for (const item of items) {
      const text = item.querySelector(".body").textContent;
      item.hidden = !each.every((one) => one.test(text));
      if (!item.hidden) shown += 1;
    }
    for (const line of around) line.hidden = words.length > 0;
    if (words.length) {
      const pattern = new RegExp(words.join("|"), "giu");
      for (const item of items) if (!item.hidden && marks.length < MOST) light(item, pattern);
    }
    hits.value = words.length ? fill(said.count, { shown, total: items.length }) : "";
    if (marks.length) go(0, false);
  }

  function go(index, focus = true) {
    if (!marks.length) return;
    if (place >= 0) marks[place].classList.remove("at");
    place = (index + marks.length) % marks.length;
    marks[place].classList.add("at");
    if (focus) marks[place].scrollIntoView({ block: "center" });
  }

  function step(by) {
    const seen = items.filter((item) => !item.hidden);
    const now = seen.indexOf(document.activeElement.closest("article"));
    const next = seen[Math.min(Math.max(now < 0 ? 0 : now + by, 0), seen.length - 1)];
    if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
  }

  function fold() {
    const open = at("fold").getAttribute("aria-pressed") !== "true";
    for (const each of document.querySelectorAll("article details")) each.open = open;
    opened = [];
    at("fold").setAttribute("aria-pressed", open);
    at("fold").textContent = open ? said.fold : said.unfold;
  }

  const themes = ["auto", "light", "dark"];
  function theme(name) {
    if (name === "auto") delete root.dataset.theme; else root.dataset.theme = name;
    at("theme").textContent = fill(said.theme, { name: said[name] });
    try { localStorage.setItem("hermes-browse-theme", name); } catch { /* a file may have no storage */ }
  }
  function turn() { theme(themes[(themes.indexOf(root.dataset.theme || "auto") + 1) % themes.length]); }
  try {
    const kept = localStorage.getItem("hermes-browse-theme");
    if (themes.includes(kept)) theme(kept);
  } catch { /* as above */ }

  let waiting = 0;
  box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); go(place + (event.shiftKey ? -1 : 1)); }
    if (event.key === "Escape") { box.value = ""; search(); box.blur(); }
  });
  at("next").addEventListener("click", () => go(place + 1));
  at("previous").addEventListener("click", () => go(place - 1));
  at("fold").addEventListener("click", fold);
  at("theme").addEventListener("click", turn);
  const keys = { "/": () => box.focus(), j: () => step(1), k: () => step(-1), n: () => go(place + 1),
    N: () => go(place - 1), f: fold, t: turn };
  document.addEventListener("keydown", (event) => {
    if (event.target === box || event.ctrlKey || event.altKey || event.metaKey) return;
    const action = Object.hasOwn(keys, event.key) && keys[event.key];
    if (action) { event.preventDefault(); action(); }
  });
})();
