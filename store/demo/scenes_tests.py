"""Two long things: a chat of two hundred messages, and a build log of forty kilobytes in colour."""

from __future__ import annotations

from .chat import Chat, begin
from .script import SONNET, Script

_API = "/home/noor/src/skerry-api"

_FILES = (
    ("test_quays", 14, "", ""),
    ("test_stops", 22, "", "keep the names, people search for them in the tickets"),
    ("test_sailings", 31, "setUpClass opened the database; a module fixture does it now", ""),
    ("test_search", 22, "", ""),
    ("test_tickets", 38, "", "looks good, go on"),
    ("test_refunds", 19, "one test asserted nothing: `self.assertTrue(x, y)` with y as the message", ""),
    ("test_prices", 27, "", "why is test_prices so slow?"),
    ("test_passes", 16, "", ""),
    ("test_school_pass", 9, "", ""),
    ("test_discounts", 24, "subTest loops are parametrize now, so each case has a name", "nice"),
    ("test_cart", 33, "", ""),
    ("test_checkout", 29, "", "careful here, this one talks to the payment sandbox"),
    ("test_payments", 18, "the sandbox is behind a marker now: `pytest -m sandbox`", ""),
    ("test_receipts", 12, "", ""),
    ("test_mail", 15, "", "how many are left?"),
    ("test_sms", 8, "", ""),
    ("test_users", 26, "", ""),
    ("test_login", 21, "", "coffee, carry on without me"),
    ("test_session_cookie", 7, "left `test_cookie_is_lax` red, as it was", ""),
    ("test_roles", 13, "", ""),
    ("test_admin_forms", 17, "", ""),
    ("test_admin_sailings", 20, "", "back. anything surprising?"),
    ("test_reports", 11, "freezegun is gone, `now` is a fixture", ""),
    ("test_exports", 10, "", ""),
    ("test_weather", 6, "", "can the weather ones run offline?"),
    ("test_cancellations", 23, "", ""),
    ("test_notices", 9, "", ""),
    ("test_gateway", 30, "async tests use the anyio plugin instead of a loop of their own", "good"),
    ("test_api_errors", 14, "", ""),
    ("test_openapi", 5, "", "last one?"),
)
"""Test files with their number of tests, what was odd about them, and what Noor said afterwards."""

_ANSWERS = {
    "why is test_prices so slow?": "It reloads the price list 27 times. With one fixture it takes 0.3 s, not "
    "11. Done in the same commit.",
    "how many are left?": "Fifteen of thirty. At this pace about twenty minutes.",
    "back. anything surprising?": "Two things: three tests in `test_login` passed only because of the order "
    "they ran in, and `test_roles` never ran at all, its class was called `RolesTest_`.",
    "can the weather ones run offline?": "They do: six recorded forecasts lie in `tests/data/smhi`.",
    "last one?": "Last one. Thirty files, 579 tests, and the suite takes 21 s instead of 64.",
    "careful here, this one talks to the payment sandbox": "Seen: first with the network cut, then once for real.",
}


def play(script: Script) -> None:
    """Draft both chats."""
    _long(script)
    _nightly(script)


def _long(script: Script) -> None:
    talk = begin(
        script,
        "pytest",
        script.ago(days=17, hours=6),
        title="Move the test suite to pytest",
        cwd=_API,
        git_branch="tests/pytest",
    )
    talk.play("""
you> Move all tests from unittest to pytest, one file at a time, one commit each. Do not change what is tested.
terminal> ls tests/test_*.py | wc -l; grep -rc "self.assert" tests | awk -F: '{n+=$2} END {print n}'
30
1644
hermes> Thirty files, 1,644 assertions. For each file: rewrite, run old and new side by side, compare the *set* of \
test \
names and outcomes, commit. I will say so when something is odd, and stop when something changes.
""")
    for number, (name, count, odd, said) in enumerate(_FILES, 1):
        _move(talk, number, name, count, odd)
        if said:
            talk.say(said)
            answer = _ANSWERS.get(said)
            if answer:
                talk.reply(answer)
    talk.play("""
you> Wonderful. Squash? No, keep the thirty commits. Thank you.
hermes> Kept. `git log --oneline tests/pytest` reads like a list of the files.
""").end("cli_close")


def _move(talk: Chat, number: int, name: str, count: int, odd: str) -> None:
    path = f"tests/{name}.py"
    head = name.removeprefix("test_").replace("_", " ")
    talk.use(
        "patch",
        path,
        f"--- a/{path}\n+++ b/{path}\n@@ -1,6 +1,4 @@\n-import unittest\n-\n-class {head.title().replace(' ', '')}Test"
        f"(unittest.TestCase):\n-    def setUp(self):\n-        self.client = make_client()\n"
        f"+import pytest\n+\n+from .fixtures import client",
    )
    if number in (6, 12, 18, 28):
        talk.use("terminal", f"pytest -q {path}", f"{'.' * (count - 1)}F\n1 failed, {count - 1} passed", failed=True)
        talk.use("patch", path, f"--- a/{path}\n+++ b/{path}\n@@ -40 +40 @@\n-    self.tick()\n+    client.tick()")
    talk.use(
        "terminal",
        f"pytest -q {path} && git commit -qam 'tests: {head} with pytest'",
        f"{'.' * count}{' ' * max(1, 72 - count)}[100%]\n{count} passed in {0.08 * count:.2f}s",
    )
    names = f"comm -3 old/{name}.txt <(pytest --co -q {path})"
    talk.use("terminal", names, "" if number % 7 else f"\t{path}::test_renamed_for_pytest")
    if odd or number % 5 == 0:
        talk.reply(f"{number}/30 `{name}`: {count} tests. {odd[:1].upper() + odd[1:]}{'.' if odd else ''}".rstrip())


def _nightly(script: Script) -> None:
    talk = begin(
        script, "nightly", script.ago(days=4, hours=1), title="Why does the nightly build fail", cwd=_API, model=SONNET
    )
    talk.play("""
you> The nightly build is red since Tuesday, but only the nightly. Its log is `gh run view 8841 --log`.
terminal> {"command": "gh run view 8841 --log", "background": true}
{"output": "Background process started", "session_id": "proc_8841", "pid": 20417, "exit_code": 0, "error": null}
""")
    talk.use("process", '{"action": "log", "session_id": "proc_8841"}', build_log(), seconds=1.5)
    talk.play("""
think> 412 lines of passing steps; the failure: "could not acquire migration lock within 30 s" right after two jobs \
start \
at 02:00:00. Two migrations race. The daily build has a single job.
hermes> The interesting three of its lines:

```text
02:14:07  migrate (eu)   waiting for lock skerry_migrate
02:14:07  migrate (test) waiting for lock skerry_migrate
02:14:37  migrate (test) could not acquire migration lock within 30 s
```

Since Tuesday the nightly runs **two** databases in parallel (`matrix: [eu, test]`), and both migrate against the same \
server. The loser gives up after 30 seconds. The daily build has one job and never meets itself.

```yaml
strategy:
  max-parallel: 1        # both migrate the same server
  matrix:
    database: [eu, test]
```
you> Or give each its own server?
hermes> Cleaner, and four minutes quicker:

```yaml
services:
  postgres:
    image: postgres:17
    ports: ["5432"]      # a free port of its own per job
```
you> That one.
patch> .github/workflows/nightly.yml
--- a/.github/workflows/nightly.yml
+++ b/.github/workflows/nightly.yml
@@ -9,3 +9,8 @@
     strategy:
       matrix:
         database: [eu, test]
+    services:
+      postgres:
+        image: postgres:17
+        ports: ["5432"]
terminal> gh workflow run nightly.yml && gh run watch --exit-status | tail -1
✓ nightly · eu (6m12s) · test (6m03s)
hermes> Green, both at once.
""").end("cli_close")


def build_log() -> str:
    """A build log of about 40 KB with the colours its tools print: real escape sequences, as stores hold them."""
    green, red, grey, bold, plain = "\x1b[32m", "\x1b[31m", "\x1b[90m", "\x1b[1m", "\x1b[0m"
    lines = [f"{bold}nightly #8841{plain} {grey}(eu, test){plain}", ""]
    for number, (name, count, _, _) in enumerate(_FILES):
        lines.append(f"{grey}02:{number // 3:02}:{number % 3 * 19:02}{plain}  {bold}tests/{name}.py{plain}")
        for case in range(count):
            lines.append(
                f"{grey}   ·{plain} {name}[{case:02}] {green}PASSED{plain} {grey}in {11 + case * 7 % 90} ms (eu){plain}"
            )
    lines += [
        "02:14:07  migrate (eu)   waiting for lock skerry_migrate",
        "02:14:07  migrate (test) waiting for lock skerry_migrate",
        f"02:14:37  migrate (test) {red}{bold}could not acquire migration lock within 30 s{plain}",
        f"{red}error:{plain} process completed with exit code 1",
    ]
    return "\n".join(lines)
