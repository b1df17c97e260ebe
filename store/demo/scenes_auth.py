"""The chat the pictures show: a bug hunted over three segments, a subagent on it, still open."""

from __future__ import annotations

from .chat import Chat, begin
from .family import collect, compress, delegate
from .script import Script


def play(script: Script) -> None:
    """Draft the conversation "Fix auth bug": compressed twice, the tip used minutes ago."""
    first = begin(
        script,
        "auth",
        script.ago(days=1, hours=5.5),
        title="Fix auth bug",
        cwd="/home/noor/src/skerry-api",
        git_branch="fix/token-compare",
    )
    _finding(first)
    second = compress(first, _SUMMARY_ONE, title="Fix auth bug #2")
    second.until(script.ago(hours=6.2))
    _middleware(second)
    third = compress(second, _SUMMARY_TWO, title="Fix auth bug #3")
    third.until(script.ago(minutes=6.5))
    _tip(third)


def _finding(chat: Chat) -> None:
    chat.play("""
you> The login endpoint answers 401 for tokens that are perfectly valid, but only now and then. \
Support has nine tickets since Monday. Can you find out why? It starts in `api/auth.py`.
think> Intermittent 401 with valid tokens. Candidates: clock skew between hosts, a cache that holds stale keys, \
a comparison that depends on encoding, a race in key rotation. Read the code before guessing.
read_file> api/auth.py
import time
from .keys import current_key, previous_key
from .tokens import parse, sign

LEEWAY = 0

def check(raw: str) -> bool:
    token = parse(raw)
    if token.expires < time.time() - LEEWAY:
        return False
    return token.signature == sign(token.body, current_key())
+search_files> previous_key|current_key
{"total_count": 4, "matches": [{"path": "api/keys.py", "line": 12, "content": "def current_key() -> bytes:"}, \
{"path": "api/keys.py", "line": 19, "content": "def previous_key() -> bytes:"}, \
{"path": "api/auth.py", "line": 2, "content": "from .keys import current_key, previous_key"}, \
{"path": "api/auth.py", "line": 11, "content": "    return token.signature == sign(token.body, current_key())"}]}
think> previous_key is imported and never used. Keys rotate; right after a rotation, tokens signed with the old key \
fail \
until they expire. That would come in bursts. Check when the keys rotate and whether the tickets line up.
hermes> Two things stand out before I run anything:

1. `previous_key` is imported but **never used**. After each key rotation, every token signed with the old key is \
refused until the user logs in again.
2. The comparison uses `==`, which leaks timing. Not your bug, but it should go.

Let me see whether the rotation times match the tickets.
terminal> grep -h "rotated signing key" /var/log/skerry/api-*.log | tail -4
2 06:00:00 INFO keys: rotated signing key (age 24h)
3 06:00:00 INFO keys: rotated signing key (age 24h)
4 06:00:01 INFO keys: rotated signing key (age 24h)
5 06:00:00 INFO keys: rotated signing key (age 24h)
+terminal> grep -h " 401 /login/refresh" /var/log/skerry/api-*.log | cut -c1-5 | sort | uniq -c
      3 2 05:
    412 2 06:
     57 2 07:
      4 3 05:
    398 3 06:
     61 3 07:
      2 4 05:
    405 4 06:
hermes> That is it. The 401s begin at 06:00 sharp, the minute the key rotates, and fade over the next hour as people \
log \
in again:

| hour | 401 on refresh |
|-----:|---------------:|
| 05 | 2–4 |
| **06** | **about 400** |
| 07 | about 60 |

The fix is to accept the previous key for as long as tokens signed with it may live (one hour), and to compare in \
constant time.
you> Good find. Fix it, and write a test that would have caught it.
patch> api/auth.py
--- a/api/auth.py
+++ b/api/auth.py
@@ -1,3 +1,4 @@
+import hmac
 import time
 from .keys import current_key, previous_key
 from .tokens import parse, sign
@@ -8,4 +9,5 @@
     token = parse(raw)
     if token.expires < time.time() - LEEWAY:
         return False
-    return token.signature == sign(token.body, current_key())
+    keys = (current_key(), previous_key())
+    return any(hmac.compare_digest(token.signature, sign(token.body, key)) for key in keys)
+write_file> {"path": "tests/test_rotation.py", "content": "def test_a_token_outlives_one_rotation(keys, client):\\n\
    token = client.login()\\n    keys.rotate()\\n    assert client.refresh(token).status == 200\\n\
    keys.rotate()\\n    assert client.refresh(token).status == 401\\n"}
{"bytes_written": 214, "dirs_created": false, "lint": {"status": "ok", "output": ""}}
terminal!> pytest -q tests/test_rotation.py
F                                                                        [100%]
E       AttributeError: 'KeyRing' object has no attribute 'rotate'
1 failed in 0.41s
hermes> The test double has no `rotate` yet. I will give it one, and let a subagent run the whole suite meanwhile.
""")
    goal = "Run the whole test suite of skerry-api and report every failure with its cause in one line. Change nothing."
    suite = delegate(chat, ("auth-suite", goal))
    suite[0].play("""
terminal> pytest -q -x --co | tail -1
412 tests collected in 1.20s
terminal!> pytest -q
........................................................................ [ 17%]
........................................................................ [ 34%]
..............................F......................................... [ 52%]
........................................................................ [ 69%]
........................................................................ [ 87%]
....................................................                     [100%]
FAILED tests/test_session_cookie.py::test_cookie_is_lax - AssertionError: 'Strict' != 'Lax'
1 failed, 411 passed in 48.02s
think> One failure. Is it new? git stash is off limits (change nothing), but git log tells when the file last changed.
terminal> git log -1 --format='%h %ar %s' -- tests/test_session_cookie.py api/cookies.py
9c1f0d2 3 days ago cookies: SameSite=Strict for the admin area
hermes> 411 of 412 pass. The one failure is older than this change: `test_cookie_is_lax` expects `Lax`, commit 9c1f0d2 \
(three days ago) made it `Strict`.
""")
    collect(chat, suite, ["411 of 412 pass; test_cookie_is_lax fails since 9c1f0d2, three days ago, unrelated."])
    chat.play("""
patch> tests/doubles.py
--- a/tests/doubles.py
+++ b/tests/doubles.py
@@ -14,3 +14,7 @@
     def current(self) -> bytes:
         return self._keys[-1]
+
+    def rotate(self) -> None:
+        self._keys.append(secrets.token_bytes(32))
+        del self._keys[:-2]
terminal> pytest -q tests/test_rotation.py
.                                                                        [100%]
1 passed in 0.38s
hermes> Done. `tests/test_rotation.py` fails on the old code and passes now. The one other failure in the suite, \
`test_cookie_is_lax`, has been red for three days and has nothing to do with this.
you> Leave the cookie one, that is Jonas' corner. Commit.
terminal> git commit -qam "auth: accept the previous signing key, compare in constant time" && git log -1 --oneline
e41b7aa auth: accept the previous signing key, compare in constant time
hermes> Committed as `e41b7aa` on `fix/token-compare`.
""")


def _middleware(chat: Chat) -> None:
    chat.play("""
you> Next thing. Jonas says the websocket gateway still drops people at six. Same cause?
think> The gateway has its own middleware. It may verify tokens by itself instead of calling check().
search_files> def verify|compare_digest|signature ==
{"total_count": 2, "matches": [{"path": "api/auth.py", "line": 13, "content": \
"    return any(hmac.compare_digest(token.signature, sign(token.body, key)) for key in keys)"}, \
{"path": "gateway/middleware.py", "line": 31, "content": \
"        if token.signature == sign(token.body, self.key):"}]}
read_file> gateway/middleware.py
class TokenMiddleware:
    def __init__(self, app, keys):
        self.app = app
        self.key = keys.current()      # read once, at start-up

    async def __call__(self, scope, receive, send):
        token = parse(scope["headers"]["authorization"])
        if token.signature == sign(token.body, self.key):
            await self.app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 4401})
hermes> Same family, different mistake: the middleware reads the key **once, at start-up**. After the first rotation \
it \
holds a key nobody signs with any more. It seems to work only because the gateway is redeployed nearly every day.

> "Works because we deploy often" is my favourite kind of bug. Until the first quiet week.

I suggest it calls `auth.check` like everything else.
you> Yes, please. One place to check tokens.
patch> gateway/middleware.py
--- a/gateway/middleware.py
+++ b/gateway/middleware.py
@@ -1,12 +1,11 @@
+from api.auth import check
+
 class TokenMiddleware:
-    def __init__(self, app, keys):
+    def __init__(self, app):
         self.app = app
-        self.key = keys.current()      # read once, at start-up

     async def __call__(self, scope, receive, send):
-        token = parse(scope["headers"]["authorization"])
-        if token.signature == sign(token.body, self.key):
+        if check(scope["headers"]["authorization"]):
             await self.app(scope, receive, send)
         else:
             await send({"type": "websocket.close", "code": 4401})
terminal> pytest -q tests/gateway && git commit -qam "gateway: check tokens in one place" && git log -1 --oneline
..............................                                           [100%]
30 passed in 3.90s
7d0c9f3 gateway: check tokens in one place
hermes> Middleware goes through `auth.check` now; 30 gateway tests pass. Committed as `7d0c9f3`.
you> How sure are we that one hour is enough for the previous key?
think> Access tokens live 55 minutes, refresh adds leeway 5. The keys rotate daily, so previous_key is valid for 24 h.
terminal> grep -n "LIFETIME\\|ROTATE" api/settings.py
8:TOKEN_LIFETIME = 55 * 60
9:KEY_ROTATE_EVERY = 24 * 3600
hermes> Sure. A token lives 55 minutes; the previous key is kept until the *next* rotation, 24 hours. There is no way \
for \
a live token to be two rotations old unless somebody sets `KEY_ROTATE_EVERY` below 55 minutes. I could add an \
assertion \
for that at start-up:

```python
assert KEY_ROTATE_EVERY > TOKEN_LIFETIME, "a token must not outlive two keys"
```
you> Add it.
patch> api/settings.py
--- a/api/settings.py
+++ b/api/settings.py
@@ -8,2 +8,5 @@
 TOKEN_LIFETIME = 55 * 60
 KEY_ROTATE_EVERY = 24 * 3600
+
+if KEY_ROTATE_EVERY <= TOKEN_LIFETIME:
+    raise ValueError("a token must not outlive two keys")
hermes> Added, as a `ValueError` rather than an `assert`, so that `python -O` keeps it.
""")


def _tip(chat: Chat) -> None:
    chat.play("""
you> It has been live since lunch. Could you check how it looks, and write the changelog entry?
terminal> journalctl -u skerry-api --since "$(cat .deployed)" | grep -c " 401 /login/refresh"
6
+terminal> journalctl -u skerry-gateway --since "$(cat .deployed)" | grep -c 4401
0
think> 6 against about 470 a day before; no gateway closes. Tomorrow 06:00 is the real test: say so.
hermes> Quiet so far: **6** refused refreshes since the deploy (it was about 470 a day) and no `4401` from the \
gateway. \
The proof comes tomorrow at 06:00, when the key rotates for the first time under the new code.

```markdown
## Changelog

### Fixed
- Login: tokens signed before the daily key rotation are accepted until they expire.
- Gateway: tokens are checked in one place, so a long-running gateway no longer refuses everyone.
- Tokens are compared in constant time.
```
you> Lovely. Remind me tomorrow at 06:10 to look at the numbers.
cronjob> {"action": "create", "schedule": "10 6 * * *", "repeat": 1, "prompt": "Count 401s on /login/refresh since \
06:00"}
{"success": true, "job_id": "b7d21c90e4aa", "next_run": "tomorrow 06:10"}
hermes> Set for 06:10 tomorrow. I will count the 401s since six and send you one line.
""")


_SUMMARY_ONE = """## Active Task
None; the last request (commit) is done.

## Completed Actions
1. Found why valid tokens were refused: keys rotate daily at 06:00, `previous_key` was never consulted.
2. `api/auth.py` accepts both keys and compares with `hmac.compare_digest`.
3. `tests/test_rotation.py` added; `KeyRing.rotate` in `tests/doubles.py`. Commit e41b7aa on fix/token-compare.

## Key Decisions
- `test_cookie_is_lax` (red since 9c1f0d2) is Jonas' and stays as it is.

## Relevant Files
api/auth.py, api/keys.py, tests/test_rotation.py, tests/doubles.py"""

_SUMMARY_TWO = """## Active Task
None; the start-up check was the last request and is in.

## Completed Actions
1. Login accepts the previous signing key (e41b7aa).
2. Gateway middleware calls `auth.check` instead of a key read at start-up (7d0c9f3).
3. `api/settings.py` refuses a rotation shorter than the life of a token.

## Critical Context
Keys rotate at 06:00; before the fix about 470 refused refreshes a day, nearly all within the hour after."""
