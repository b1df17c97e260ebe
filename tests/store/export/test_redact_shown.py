"""Secrets in files as tools show them, as a diff or with numbers, and names that stand apart from their
values; and the texts beside them that only look alike."""

from collections import Counter

import pytest

from hermes_browse.store.export.redact import Redactor
from hermes_browse.store.export.secrets import MARK

# Put together here, so that no scanner of repositories takes the tests for a leak.
MIXED = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"


def redact(text):
    """A text without its secrets, and how many of which kind were in it."""
    redactor = Redactor()
    return redactor.text(text), redactor.counts


PEM = ["PRIVATE KEY-----", f"{MIXED}{MIXED}", MIXED]
PUTTY = f"PuTTY-User-Key-File-3: x\nPrivate-Lines: 1\n{MIXED}\nPrivate-MAC: 00"
PRIVATE = {
    "added": "+-----BEGIN {}\n+{}\n+{}",
    "taken out": "------BEGIN {}\n-{}\n-{}\n------END PRIVATE KEY-----",
    "numbered": "    1|-----BEGIN {}\n    2|{}\n    3|{}",
    "numbered by cat": "    1\t-----BEGIN {}\n    2\t{}\n    3\t{}",
    "numbered by grep": "1:-----BEGIN {}\n2:{}\n3:{}",
    "quoted": "> -----BEGIN {}\n> {}\n> {}",
    "in strings": '"-----BEGIN {}\\n" +\n  "{}\\n" +\n  "{}==" + MIXED',
    "encrypted": "-----BEGIN RSA {}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES\n\n{}\n{}",
    "of SSH2": '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "{}"\n{}\n{}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----',
    "of PGP": "-----BEGIN PGP {}\nComment: it's mine\n\n{}\n{}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
}


@pytest.mark.parametrize("how", PRIVATE)
def test_private_keys_in_files_that_are_shown(how):
    """As a diff or a tool shows them, to the end or cut short."""
    frame = PRIVATE[how]
    text, counts = redact(frame.format(*PEM).replace("PGP PRIVATE KEY", "PGP PRIVATE KEY BLOCK", 1))
    assert MIXED[4:] not in text.removesuffix("MIXED") and counts == {"private-key": 1}
    assert redact(text) == (text, Counter())


def test_a_private_key_of_putty():
    """Of which the public half may stay."""
    assert redact(PUTTY) == (
        PUTTY.replace(MIXED, f"{MARK}private-key]"),
        Counter({"private-key": 1}),
    )


NAMED = [
    ("+machine git.example.org\n+login me\n+password hunter2Zq", "hunter2Zq"),
    ("1|machine git.example.org\n2|  login me # it is I\n3|  password hunter2Zq", "hunter2Zq"),
    ('machine git.example.org login "m e" password "hunter 2Zq"', "hunter 2Zq"),
]


@pytest.mark.parametrize("text, secret", NAMED)
def test_only_the_value_goes(text, secret):
    """Whole; what is around it stays."""
    before, _, after = text.partition(secret)
    assert redact(text) == (f"{before}{MARK}named-secret]{after}", Counter({"named-secret": 1}))
    assert redact(redact(text)[0])[1] == Counter()


HARMLESS = [
    "Authorization: Bearer $TOKEN2 or Bearer YOUR_TOKEN_HERE_1, Basic base64(user:pass); Bearer ${TOKEN}",
    "PASS: test_login_1\nPASS: tests/test_a1.py\n--- PASS: TestLogin1 (0.1s)",
    "SORT_KEY=created_at2 CACHE_KEY=user:v2:profile KEY=user_2",
    "const token = user1.token; f(token=tok1.value, api_key=self2.api_key)",
    "fetch(u, {credentials: 'same-origin'}); fetch(v, { credentials: 'include' })",
    "line 12345678:some_function_name_that_is_long; 1234567890:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "PWD=/home/me/work-1 PWD=~/work-1 TOKEN_KEY=/run/secrets/x1",
    "the line -----BEGIN PRIVATE KEY----- of a file; grep -r 'BEGIN RSA PRIVATE KEY' /etc",
    "machine learning\n# of the\nlogin page\nneeds a password here",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_stands_for_no_secret_stays(text):
    """Variables, names of tests and columns, paths, what a person has to fill in."""
    assert redact(text) == (text, Counter())
