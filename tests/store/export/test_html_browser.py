"""The HTML file in a real browser: opened from disk, searched, folded, turned dark, attacked; and
nothing goes out."""

import pytest
from browser_pipe import find_chromium, opened_browser
from builders import T0, tool_call
from exports import chat, document
from paths import fixture
from platforms import posix_only
from test_html import attacked

from hermes_browse.store.export.source import Format

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium: none on PATH, and HERMES_BROWSE_CHROMIUM names none"
    ),
    posix_only,
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A browser for all tests of this file."""
    assert CHROMIUM is not None
    with opened_browser(CHROMIUM, tmp_path_factory.mktemp("profile")) as page:
        yield page


def show(page, text, path):
    """Write a document, open it, and see that it asks for nothing and complains of nothing."""
    path.write_text(text, encoding="utf-8")
    page.open(path)
    assert page.requests() == [path.resolve().as_uri()]
    assert page.complaints() == []


def wait(page, condition):
    """Until a condition of the page holds."""
    page.run(
        f"(async () => {{ while (!({condition})) await new Promise((go) => setTimeout(go, 10)); }})()"
    )


def search(page, text):
    """Type into the search box and wait for the answer."""
    page.run("document.getElementById('search').select()")
    page.run("document.getElementById('hits').value = ''")
    page.run("document.getElementById('search').focus()")
    page.type(text)
    wait(page, "document.getElementById('hits').value !== ''")


VISIBLE = "[...document.querySelectorAll('article')].filter((each) => !each.hidden)"


@pytest.fixture
def story(page, tmp_path):
    """A page with something of everything, open in the browser."""
    path = chat(
        tmp_path / "state.db",
        "22",
        [
            {"content": "Where is the Lantern? (a+b)* costs $5"},
            {
                "role": "assistant",
                "content": "",
                "reasoning": "lantern, perhaps on the quay",
                "tool_calls": [tool_call("find", {"what": "lantern"})],
            },
            {
                "role": "tool",
                "tool_name": "find",
                "content": "line 1\nthe lantern is at quay 7",
            },
            {
                "role": "assistant",
                "content": "At quay 7. LANTERNS burn there.",
                "timestamp": T0 + 90_000,
            },
        ],
        title="Lanterns",
    )
    page.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}]
    )
    show(page, document(path, Format.HTML), tmp_path / "story.html")
    page.run("localStorage.clear(); document.documentElement.removeAttribute('data-theme')")
    return page


def test_search_filters_lights_and_unfolds(story):
    """By `/` and typing; hits in folded parts open them, and all is as before when the search is
    left."""
    assert story.run("document.querySelectorAll('details[open]').length") == 0
    story.press("/")
    assert story.run("document.activeElement.id") == "search"
    search(story, "lantern quay")
    assert story.run(f"{VISIBLE}.length") == 3
    assert story.run("document.getElementById('hits').value") == "3 of 4 messages"
    lit = story.run(
        "[...document.querySelectorAll('mark')].map((each) => each.textContent.toLowerCase())"
    )
    assert set(lit) == {"lantern", "quay"} and len(lit) >= 6
    assert story.run(
        "[...document.querySelectorAll('.result, .reasoning')].every((each) => each.open)"
    )
    assert story.run("document.querySelector('.day').hidden")
    story.press("Enter")
    story.press("Enter")
    story.press("Enter", shift=True)
    assert (
        story.run("[...document.querySelectorAll('mark')].findIndex((each) => each.matches('.at'))")
        == 1
    )
    before = story.run("document.querySelector('main').textContent")
    story.press("Escape")
    assert (
        story.run(f"{VISIBLE}.length") == 4
        and story.run("document.querySelectorAll('mark').length") == 0
    )
    assert story.run("document.querySelectorAll('details[open]').length") == 0
    assert story.run("document.querySelector('main').textContent") == before
    assert not story.run("document.querySelector('.day').hidden")


@pytest.mark.parametrize(
    "words, count", [("(a+b)*", 1), ("$5", 1), ("[", 0), ("\\", 0), ("a-b", 0), ("nowhere", 0)]
)
def test_what_is_typed_is_no_pattern(story, words, count):
    """Signs of regular expressions are looked for as they are."""
    search(story, words)
    assert story.run(f"{VISIBLE}.length") == count
    assert story.complaints() == []
    story.press("Escape")


def test_folding_and_moving_by_keyboard(story):
    """`f` unfolds all and folds again; `j` and `k` go from message to message; folds open with
    Enter."""
    total = story.run("document.querySelectorAll('details').length")
    assert total == 3
    story.press("f")
    assert story.run("document.querySelectorAll('details[open]').length") == total
    assert story.run("document.getElementById('fold').getAttribute('aria-pressed')") == "true"
    story.press("f")
    assert story.run("document.querySelectorAll('details[open]').length") == 0
    for key, index in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        story.press(key)
        assert (
            story.run("[...document.querySelectorAll('article')].indexOf(document.activeElement)")
            == index
        )
    story.run("document.querySelector('summary').focus()")
    story.press("Enter")
    wait(story, "document.querySelector('details').open")
    assert story.run(
        "[...document.querySelectorAll('input, button')].every((each) => each.tabIndex >= 0)"
    )


def test_dark_and_light(story):
    """As the system has it, and otherwise when asked; the choice is kept for the file's next
    opening."""
    ground = "getComputedStyle(document.body).backgroundColor"
    light = story.run(ground)
    story.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    dark = story.run(ground)
    assert light != dark and sum(map(int, light[4:-1].split(","))) > 600 > 150 > sum(
        map(int, dark[4:-1].split(","))
    )
    story.press("t")  # light, though the system is dark
    assert (
        story.run(ground) == light
        and story.run("document.getElementById('theme').textContent") == "Theme: light"
    )
    story.press("t")
    story.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}]
    )
    assert story.run(ground) == dark
    story.run("document.getElementById('theme').click()")
    assert (
        story.run(ground) == light
        and story.run("document.getElementById('theme').textContent") == "Theme: auto"
    )


def test_text_can_be_read_in_both(story):
    """Contrast of text on its ground is at least 4.5 to 1 (WCAG 2.2, 1.4.3), marks included."""
    script = """
    (() => {
      const light = (value) => { const c = value / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
      const lum = (text) => { const [r, g, b] = text.match(/[0-9.]+/g).map(Number);
        return 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b); };
      const ground = (each) => { for (; each; each = each.parentElement) {
        const colour = getComputedStyle(each).backgroundColor; if (!colour.endsWith(", 0)")) return colour; } };
      const seen = {};
      const some = "h1, .facts, .day, time, .said, summary, pre, code, mark, mark.at, button, #hits";
      for (const each of document.querySelectorAll(some)) {
        const a = lum(getComputedStyle(each).color), b = lum(ground(each));
        const name = each.id || each.className || each.localName;
        seen[name] = Math.min(seen[name] || 99, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
      }
      return seen;
    })()
    """
    search(story, "lantern")
    for scheme in ("light", "dark"):
        story.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        found = story.run(script)
        assert len(found) > 8 and min(found.values()) >= 4.5, (scheme, found)
    story.press("Escape")


def test_attacks_come_to_nothing(page, tmp_path):
    """No script of a message runs, nothing is fetched, no element of theirs is in the page."""
    show(page, document(attacked(tmp_path / "state.db"), Format.HTML), tmp_path / "attacked.html")
    assert page.run("typeof window.pwned") == "undefined"
    assert (
        page.run("document.querySelectorAll('img, iframe, svg, base, b, i, link, object').length")
        == 0
    )
    assert page.run("document.querySelectorAll('script').length") == 1
    assert page.run("document.querySelectorAll('article').length") == 41
    assert page.run("document.querySelectorAll('li a').length") == 2
    page.press("f")
    assert page.run("typeof window.pwned") == "undefined"


def test_the_policy_is_in_force(page, tmp_path):
    """Even a hole in the escaping would let no script run and nothing out."""
    text = document(fixture(31), Format.HTML, "aaa003")
    hole = "<main><script>window.pwned = 1</script><img src='https://example.org/x.png' onerror='window.pwned = 2'>"
    (tmp_path / "hole.html").write_text(text.replace("<main>", hole), encoding="utf-8")
    page.open(tmp_path / "hole.html")
    assert page.run("typeof window.pwned") == "undefined"
    refused = [str(each) for each in page.complaints()]
    assert any("script-src" in each for each in refused) and any(
        "img-src" in each for each in refused
    )
    assert page.run("document.getElementById('fold') !== null")


def test_all_stores_and_a_long_conversation(page, tmp_path):
    """Every conversation of a store with an index that leads to it; thousands of messages are
    searched."""
    path = fixture(31)
    show(page, document(path, Format.HTML), tmp_path / "all.html")
    assert page.run(
        "[...document.querySelectorAll('li a')].every((a) => document.getElementById(a.hash.slice(1)))"
    )
    rows = [{"content": f"message {number} of many"} for number in range(5000)]
    long = chat(tmp_path / "long.db", "22", rows, fts=False)
    show(page, document(long, Format.HTML), tmp_path / "long.html")
    search(page, "4321")
    assert (
        page.run(f"{VISIBLE}.length") == 1
        and page.run("document.querySelectorAll('mark').length") == 1
    )
    search(page, "message")
    assert (
        page.run(f"{VISIBLE}.length") == 5000
        and page.run("document.querySelectorAll('mark').length") == 5000
    )
