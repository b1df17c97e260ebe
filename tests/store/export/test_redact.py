"""Secrets are found in every dress they come in, harmless text stays as it is, and no text takes
for ever."""

import json
import subprocess
import sys
from collections import Counter

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_redact_kinds import KINDS

from hermes_browse.store.export.redact import (
    LABELS,
    Redactor,
    describe,
    is_secret_value,
    read_env,
    secret_values,
)
from hermes_browse.store.export.secrets import MARK, RULES

# Put together here, so that no scanner of repositories takes the tests for a leak.
MIXED = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
ALL = [
    *KINDS.values(),
    "MT" + f"{MIXED[:22]}.{MIXED[:6]}.{MIXED}",
    "123456789:AAHdqTcvCH1v" + "GWJxfSeofSAs0K5PALDsaw",
    "-----BEGIN RSA "
    + "PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEow+/=\nabc\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH " + f"PRIVATE KEY-----\n{MIXED}{MIXED}\n{MIXED}",
]


def redact(text, values=()):
    """A text without its secrets, and how many of which kind were in it."""
    redactor = Redactor(values)
    return redactor.text(text), redactor.counts


@pytest.mark.parametrize("frame", ["KEY\n{}\n", "`{}`", "({})", "\x1b[01;31m\x1b[K{}\x1b[m"])
def test_keys_by_their_form(frame):
    """Whatever stands around them, colours of a terminal included."""
    for secret in ALL:
        text, counts = redact(frame.format(secret))
        assert secret not in text and secret.splitlines()[-1][4:] not in text
        ((kind, count),) = counts.items()
        assert count == 1 and f"{MARK}{kind}]" in text and kind in LABELS


def test_keys_within_json_within_json():
    """Arguments of a tool call are JSON, and what they hold may be JSON again; all of it stays
    JSON."""
    for secret in ALL:
        inner = json.dumps({"env": f"FIRST=1\n{secret}\nLAST=2", "number": 7})
        outer = json.dumps({"command": "run", "input": inner, "list": [inner, secret]})
        redactor = Redactor()
        found = json.loads(redactor.json_text(outer))
        assert json.loads(found["input"])["number"] == 7 and found["command"] == "run"
        assert json.loads(found["input"])["env"].startswith("FIRST=1\n")
        assert secret not in json.dumps(found) and redactor.counts.total() == 3
        # As plain text, which is how the result of a tool comes.
        text, counts = redact(outer)
        assert secret.splitlines()[0][-24:] not in text and counts.total() >= 3
        assert set(json.loads(text)) == {"command", "input", "list"}


NAMED = [
    ("OPENROUTER_API_KEY=qwertyuiop1", "qwertyuiop1"),
    ("export DB_PASSWORD=correct-horse", "correct-horse"),
    ("password: hunter2", "hunter2"),
    ("Password : hunter2!", "hunter2!"),
    ('"password": "correct horse battery"', "correct horse battery"),
    (r"{\"token\": \"abc\\\"def1\", \"b\": 1}", r"abc\\\"def1"),
    ("{'client_secret': 'p4ssphrase'}", "p4ssphrase"),
    ("x-api-key: 0123456789abcdef", "0123456789abcdef"),
    ("secretAccessKey: 'wJalrXUtnFEMI'", "wJalrXUtnFEMI"),
    ("FOO_KEY=a1b2c3d4", "a1b2c3d4"),
    ("KEY=a1b2c3d4", "a1b2c3d4"),
    ("DB_PASS=s3cr3tpw", "s3cr3tpw"),
    ("https://x.example/?a=1&access_token=abcd1234efgh&b=2", "abcd1234efgh"),
    ("deploy --token abcdefgh12 now", "abcdefgh12"),
    ('login --password "open sesame 1"', "open sesame 1"),
    ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("curl -H 'authorization: Bearer zyxwvut98765'", "zyxwvut98765"),
    ('{"Authorization": "Bearer zyxwvut98765"}', "zyxwvut98765"),
    ("then Bearer abcdefghij0123456789 it said", "abcdefghij0123456789"),
    ("postgres://me:p@ss:w0rd@db.example/x", "p@ss:w0rd"),
    ("git clone https://me:hunter2@example.org/x.git", "hunter2"),
    ("https://0123456789abcdef01234567@example.org", "0123456789abcdef01234567"),
    ("TOKEN=" + "a1" * 900 + " next", "a1" * 900),
    ("https://hooks.slack.com/services/T00000000/B00000000/" + MIXED[:24], MIXED[:24]),
]


@pytest.mark.parametrize("text, secret", NAMED)
def test_secrets_by_the_name_before_them(text, secret):
    """Only the value goes, whole; what is around it stays."""
    found, counts = redact(text)
    before, _, after = text.partition(secret)
    assert found.startswith(before.split("services/")[0]) and found.endswith(after)
    assert secret not in found and sum(counts.values()) == 1
    assert redact(found) == (found, Counter())


HARMLESS = [
    "max_tokens=4096, token_count: 1234, tokenizer: cl100k_base1",
    "token = get_token()\nsecret = config['x']\nreturn tok == SECRET\n",
    "password=password, token=token, api_key=os.environ['X'], api_key=${KEY}, secret: <your secret>",
    "the token: it is fine. Password: required. The key: patience.",
    '{"key": "Enter", "primary_key": "user_id", "sort_key": "name", "type": "secret", "token_type": "bearer"}',
    "commit 0123456789abcdef0123456789abcdef01234567 by author: me; authenticate(x) with OAuth: 2.0 spec1",
    "scikit: sk-learn-something-very-long-name and risk-averse-approaches-to-everything-1",
    "Authorization: required for all of it; bearer of good news",
    "https://example.org:8080/path?q=a@b and ssh://git@example.org/x and user@example.org",
    "ghost_writer_of_the_opera_house_and_more xoxo-hugs-and-kisses AKIAs",
    "12:34:56 2026-01-01T00:00:00 1767258000:12",
    "accessKeyId: 'a name of no secret'",
    "",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text):
    """A document full of holes is read by nobody."""
    assert redact(text) == (text, Counter())


def test_the_secret_half_of_an_aws_pair():
    """Forty letters mean nothing alone, and everything beside an access key; hashes stay."""
    secret, sha = (
        "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
        "0123456789abcdef0123456789abcdef01234567",
    )
    text, counts = redact(f"AKIA{'IOSFODNN7EXAMPLE'} {secret} at {sha}")
    assert (
        counts == {"aws-access-key": 1, "aws-secret-key": 1} and secret not in text and sha in text
    )
    assert redact(secret) == (secret, Counter())


ENV = """\
# keys
OPENAI_BASE_URL=https://openrouter.ai/api/v1
export SOME_KEY="wal/rus \\"quoted"   # a note
TELEGRAM_ALLOWED_USERS=123456789,987654321
MODEL=anthropic/claude-sonnet-4.6
TERMINAL_CWD=/home/me/projects
LANGUAGE=deutsch
PLAIN_TOKEN=zucchini pie # comment
SHORT_KEY=abc
CERT='-----BEGIN-----
line of the certificate
-----END-----'
NOT A LINE
EMPTY=
"""


def test_values_of_env(tmp_path):
    """Long ones that are no path, address or ordinary word; quotes, comments and lists
    understood."""
    (tmp_path / ".env").write_text("\ufeff" + ENV, encoding="utf-8")
    pairs = dict(read_env(tmp_path / ".env"))
    assert pairs["PLAIN_TOKEN"] == "zucchini pie" and pairs["EMPTY"] == ""
    values = secret_values(pairs.items())
    assert {"zucchini pie", "123456789", "987654321", "123456789,987654321"} <= values
    assert not any(
        value.startswith(("/home", "https://", "anthropic/", "deutsch", "abc")) for value in values
    )
    assert (
        not is_secret_value("KEY", "changeme")
        and not is_secret_value("KEY", "short")
        and is_secret_value("KEY", "unusual-word")
    )
    text, counts = redact("zucchini pie for 987654321 in /home/me/projects", values)
    assert text == f"{MARK}env-value] for {MARK}env-value] in /home/me/projects" and counts == {
        "env-value": 2
    }


@pytest.mark.parametrize(
    "value", ['wal/rus "7" ü', "back\\slash\\7n", "tab\there77", "%percent 77&"]
)
def test_values_of_env_in_every_spelling(value):
    """In JSON, in JSON within JSON, in an address."""
    from urllib.parse import quote, quote_plus

    once = json.dumps({"a": value})
    for text in (
        value,
        once,
        json.dumps({"b": once}),
        json.dumps(once, ensure_ascii=False),
        quote(value),
        quote_plus(value),
    ):
        found, counts = redact(text, [value])
        assert counts == {"env-value": 1}, found
        assert value not in found


def test_env_files(tmp_path):
    """A missing one is nothing, bytes that are no text are no failure."""
    assert read_env(tmp_path / "none") == [] and read_env(tmp_path / "x" / "y") == []
    (tmp_path / ".env").write_bytes(b"A_KEY=\xff\xfeabcdefg\nB=2\n")
    assert dict(read_env(tmp_path / ".env"))["B"] == "2"
    with pytest.raises(OSError):
        read_env(tmp_path)


def test_keys_of_objects_give_their_values_away():
    """A value that looks like nothing is one after `password`; numbers, flags and names are
    none."""
    redactor = Redactor()
    value = {
        "password": "plainword",
        "token_count": "plainword",
        "tokens": 7,
        "api_key": None,
        "token": ["plainword"],
    }
    found = redactor.value(value)
    assert found == value | {"password": f"{MARK}named-secret]"} and redactor.counts == {
        "named-secret": 1
    }
    assert redactor.value({float("inf"): float("nan")}) == {"inf": None}


def test_counts_in_words_and_redaction_off():
    """What is said to a person; and nothing is touched when that is asked for."""
    redactor = Redactor()
    redactor.text(" ".join([KINDS["GitHub"], KINDS["JWT"], KINDS["GitHub"]]))
    assert redactor.counts.total() == 3 and describe(redactor.counts) == "GitHub token × 2, JWT × 1"
    assert {rule.kind for rule in RULES} <= set(LABELS)
    off = Redactor(["zucchini pie"], active=False)
    for secret in ALL:
        assert off.text(f"zucchini pie {secret}") == f"zucchini pie {secret}"
        assert off.json_text(json.dumps([secret])) == json.dumps([secret])
    assert not off.counts


@given(
    st.lists(
        st.one_of(
            st.sampled_from(ALL),
            st.text(max_size=12),
            st.sampled_from('\n\t "\\{}:=,'),
        ),
        max_size=12,
    )
)
def test_twice_is_once(parts):
    """What has been redacted is not redacted again, and stays free of secrets."""
    text, counts = redact("".join(parts))
    again, more = redact(text)
    assert (
        again == text
        and not more
        and sum(counts.values()) == text.count(MARK) - "".join(parts).count(MARK)
    )


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(ALL)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
)


@given(JSON)
def test_json_stays_json(value):
    """Of the same shape; as it was, letter by letter, where nothing was found."""
    text = json.dumps(value)
    redactor = Redactor()
    found = redactor.json_text(text)
    json.loads(found)
    assert not any(json.dumps(secret)[1:-1] in found for secret in ALL)
    if not redactor.counts:
        assert found == text


FRAGMENTS = [
    "sk-", "sk-a", "eyJ", "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "-", "AKIA",
    "M", 'token="', "token='x\\\"", 'key=\\"', "key=", "password=", "password: ", "--token ", "_key", "\\", '"', "'",
    "`", "://", "://a:", "://a:b@", "Bearer ", "Bearer a", "Authorization: Bearer ", "authorization:", "0", "0:", "a",
    "A0", ".", " ", "\n", "\u0130", "hooks.slack.com/services/", "=" * 40, "x" * 41 + " ", "AKIAIOSFODNN7EXAMPLE ",
    "curl -u ", "mysql -p ", "%3A", "a\u200b", "\\\n", "Cookie: a=b; ", "<token>", "machine a.b ", "ab1cdefg\n",
    "password '", "-----BEGIN PRIVATE KEY-----\n12|", "Private-Lines: 1\n", "12|", "> ", "machine a.b\n#", "Bearer your-",
    "KEY=a_", "- name: token\n", "password: >-\n ", "set -x ", '["token", ', "token: a = ", "&quot;", "| key | ",
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4))
def test_hostile_text_of_any_making(parts):
    """Thousands of beginnings that lead nowhere: the text comes back, and is clean."""
    text, _ = redact("".join(parts) * (20_000 // len("".join(parts))))
    assert redact(text)[0] == text


@pytest.mark.slow
def test_a_megabyte_of_each_beginning():
    """In time linear in its length: at a megabyte anything else would not come to an end before
    tomorrow."""
    script = (
        "import sys, json\nfrom hermes_browse.store.export.redact import Redactor\n"
        "for part in json.loads(sys.stdin.read()):\n"
        "    Redactor(['zucchini pie', 'aaaaaaab']).text(part * (1_000_000 // len(part)))\n"
    )
    subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(FRAGMENTS),
        text=True,
        check=True,
        timeout=600,
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"DB_PASS": "hunter2Zq9x"}',
        '{"DEPLOY_KEY": "f3A9kd02LsPq81ZxW7vB4nTt"}',
        '{"password": "correct horse battery"}',
        '{"content": "{\\"password\\": \\"hunter 2Zq9x\\"}"}',
    ],
)
def test_json_hides_what_the_same_text_hides(text):
    """Arguments of calls and results are stored as JSON."""
    for redact in (Redactor().text, Redactor().json_text):
        assert "named-secret" in redact(text)
        assert not any(word in redact(text) for word in ("hunter", "f3A9", "horse"))


@pytest.mark.parametrize(
    "text",
    [
        '{"keyboard": "us", "author": "Jane Doe", "tokens": "12", "token_type": "bearer"}',
        '{"secret_question": "what is it", "path": "/a b", "key": "name"}',
        "machine learning login page password reset",
    ],
)
def test_names_that_only_look_like_it_hide_nothing(text):
    assert Redactor().json_text(text) == text
