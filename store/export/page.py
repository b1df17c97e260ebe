"""The looks and the workings of the HTML export: one style sheet, one script, and the policy that admits only them."""

from __future__ import annotations

import base64
import hashlib
import json
import string

from ..wording import _, pgettext

STYLE = (
    ""  # not shown
    """
:root { color-scheme: light; --page: #fbfaf7; --card: #ffffff; --ink: #1c1b19; --soft: #68645c; --line: #e2ded5;
  --accent: #9a5b13; --mine: #f1ece1; --code: #f4f1ea; --mark: #ffd866; --mark-ink: #1c1b19; --at: #ff9f43; }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { color-scheme: dark; --page: #171614;
  --card: #1f1e1b; --ink: #e9e5dc; --soft: #a29c90; --line: #37342e; --accent: #e0a458; --mine: #2a2721;
  --code: #262420; --mark: #8a6d1d; --mark-ink: #fff6da; --at: #8f4d0f; } }
:root[data-theme="dark"] { color-scheme: dark; --page: #171614; --card: #1f1e1b; --ink: #e9e5dc; --soft: #a29c90;
  --line: #37342e; --accent: #e0a458; --mine: #2a2721; --code: #262420; --mark: #8a6d1d; --mark-ink: #fff6da;
  --at: #8f4d0f; }
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.bar { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center;
  padding: .6rem 1rem; background: var(--card); border-bottom: 1px solid var(--line); }
.bar input { flex: 1 1 14rem; min-width: 8rem; padding: .4rem .7rem; font: inherit; color: inherit;
  background: var(--page); border: 1px solid var(--line); border-radius: .4rem; }
.bar output { min-width: 7rem; color: var(--soft); font-size: .9rem; }
button { padding: .35rem .7rem; font: inherit; font-size: .9rem; color: inherit; background: var(--mine);
  border: 1px solid var(--line); border-radius: .4rem; cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
main, .index { max-width: 56rem; margin: 0 auto; padding: 1rem; }
h1, h2 { line-height: 1.25; overflow-wrap: anywhere; }
.conversation + .conversation { margin-top: 4rem; border-top: 3px double var(--line); }
.facts, .seam, time, .state { color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
.day { margin: 2rem 0 .5rem; font-size: 1rem; color: var(--accent); }
.seam { margin: 2rem 0; text-align: center; border-top: 1px dashed var(--line); padding-top: .5rem; }
article { margin: .8rem 0; padding: .7rem 1rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem; content-visibility: auto; contain-intrinsic-size: auto 8rem; }
article.user { background: var(--mine); border-left: 3px solid var(--accent); }
article.tool { padding-block: .4rem; }
article header { display: flex; gap: .7rem; align-items: baseline; margin-bottom: .2rem; }
[hidden] { display: none !important; }
.said { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .6rem .8rem; overflow: auto; max-height: 40rem; background: var(--code);
  border-radius: .4rem; font: .86rem/1.45 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; }
code { padding: .05em .3em; background: var(--code); border-radius: .25rem;
  font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; font-size: .9em; }
pre code { padding: 0; background: none; font-size: inherit; }
details { margin: .3rem 0; }
summary { cursor: pointer; color: var(--soft); font-size: .92rem; overflow-wrap: anywhere; }
mark { background: var(--mark); color: var(--mark-ink); border-radius: .15rem; }
mark.at { background: var(--at); }
footer { max-width: 56rem; margin: 2rem auto; padding: 1rem; color: var(--soft); font-size: .85rem; }
@media print { .bar { display: none; } article { content-visibility: visible; } }
"""
)

SCRIPT = (
    ""  # not shown
    """
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const root = document.documentElement, box = at("search"), hits = at("hits");
  const items = [...document.querySelectorAll("article")];
  const around = [...document.querySelectorAll(".day, .seam")];
  const MOST = 5000;
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
    const words = box.value.split(/\\s+/).filter(Boolean)
      .map((word) => word.replace(/[.*+?^${}()|[\\]\\\\\\/-]/g, (letter) => letter === "-" ? "-" : "\\\\" + letter));
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
    hits.value = words.length ? shown + " of " + items.length + " messages" : "";
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
    at("fold").textContent = open ? "Fold all" : "Unfold all";
  }

  const themes = ["auto", "light", "dark"];
  function theme(name) {
    if (name === "auto") delete root.dataset.theme; else root.dataset.theme = name;
    at("theme").textContent = "Theme: " + name;
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
"""
)
"""In English; see `script`."""


def _digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"


def theme_words() -> dict[str, str]:
    """What a person reads for each theme."""
    return {
        "auto": pgettext("theme of a page", "auto"),
        "light": pgettext("theme of a page", "light"),
        "dark": pgettext("theme of a page", "dark"),
    }


def _expression(message: str, **values: str) -> str:
    """A text as an expression of the script.

    Args:
        message: Its fields in braces.
        values: An expression for each field.
    """
    parts: list[str] = []
    for text, name, _spec, _conversion in string.Formatter().parse(message):
        parts += [json.dumps(text, ensure_ascii=False)] if text else []
        parts += [values[name]] if name else []
    return " + ".join(parts)


def script() -> str:
    """The script with its words in the language that is spoken."""
    words = theme_words()
    is_english = all(key == word for key, word in words.items())
    name = "name" if is_english else f"{json.dumps(words, ensure_ascii=False)}[name]"
    fold, unfold = _expression(_("Fold all")), _expression(_("Unfold all"))
    found = _expression(_("{shown} of {total} messages"), shown="shown", total="items.length")
    said = SCRIPT.replace('shown + " of " + items.length + " messages"', found)
    said = said.replace('"Fold all" : "Unfold all"', f"{fold} : {unfold}")  # not shown
    return said.replace('"Theme: " + name', _expression(_("Theme: {name}"), name=name))


def policy() -> str:
    """No network, no other style or script than these two, told by their hashes (https://www.w3.org/TR/CSP3/)."""
    return (
        f"default-src 'none'; style-src {_digest(STYLE)}; script-src {_digest(script())}; base-uri 'none'; "
        "form-action 'none'"
    )
