"""Every kind of key, wherever it stands, in each format of an export; and texts that only look like
one."""

import base64
import hashlib
import html
import json
import random
import string
import uuid

import pytest
from builders import make_store
from exports import document

from hermes_browse.store.export.redact import Redactor
from hermes_browse.store.export.secrets import MARK
from hermes_browse.store.export.source import Format

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
CAPITALS = string.ascii_uppercase + string.digits
DIGITS = "123456789"


def _some(count, letters=LETTERS):
    return "".join(_RANDOM.choice(letters) for _ in range(count))


_RANDOM = random.Random(28)
# Put together here, so that no scanner of repositories takes the tests for a leak.
KINDS = {
    "Tailscale": "tskey" + f"-auth-{_some(11)}-{_some(32)}",
    "Vault": "hvs" + f".{_some(90)}",
    "GitLab": "glrt" + f"-{_some(20)}",
    "Shopify": "shpat" + f"_{_some(32, HEX)}",
    "Square": "sq0atp" + f"-{_some(22)}",
    "Square token": "EAAA" + _some(60),
    "Databricks": "dapi" + _some(32, HEX),
    "Terraform": _some(14) + f".atlasv1.{_some(67)}",
    "Doppler": "dp" + f".pt.{_some(43)}",
    "New Relic": "NRAK" + f"-{_some(27, CAPITALS)}",
    "Sentry": "sntrys" + f"_eyJ{_some(80)}_{_some(43)}",
    "Grafana": "glsa" + f"_{_some(32)}_{_some(8, HEX)}",
    "age": "AGE-SECRET" + f"-KEY-1{_some(58, CAPITALS)}",
    "Figma": "figd" + f"_{_some(40)}",
    "Postman": "PMAK" + f"-{_some(24, HEX)}-{_some(34, HEX)}",
    "Supabase": "sbp" + f"_{_some(40, HEX)}",
    "Heroku": "HRKU" + f"-{_some(8, HEX)}-{_some(4, HEX)}-{_some(4, HEX)}-{_some(12, HEX)}",
    "Airtable": "pat" + f"{_some(14)}.{_some(64, HEX)}",
    "Voyage": "pa" + f"-{_some(43)}",
    "Twilio": "SK" + _some(32, HEX),
    "Mailchimp": _some(32, HEX) + "-us13",
    "Discord webhook": "https://discord.com/api/webhooks" + f"/{_some(18, DIGITS)}/{_some(68)}",
    "Anthropic": "sk-ant" + f"-api03-{_some(93)}",
    "OpenAI": "sk-proj" + f"-{_some(60)}",
    "GitHub": "ghp" + f"_{_some(36)}",
    "AWS": "AKIA" + _some(15, CAPITALS) + "7",
    "Google": "AIza" + _some(35),
    "Slack": "xoxb" + f"-{_some(12, DIGITS)}-{_some(24)}",
    "Stripe": "sk_live" + f"_{_some(24)}",
    "JWT": "eyJ" + f"hbGciOiJIUzI1NiJ9.eyJ{_some(40)}.{_some(43)}",
    "Docker": "dckr" + f"_pat_{_some(27)}",
    "Google refresh": "1/" + f"/0{_some(2)}{_some(60)}",
    "GitLab runner": "GR" + f"1348941{_some(20)}",
    "Brevo": "xkeysib" + f"-{_some(64, HEX)}-{_some(16)}",
    "Pinecone": "pcsk" + f"_{_some(6)}_{_some(63)}",
    "HubSpot": "pat-na1" + f"-{uuid.UUID(int=_RANDOM.getrandbits(128))}",
    "Plaid": "access-production" + f"-{uuid.UUID(int=_RANDOM.getrandbits(128))}",
    "1Password": "ops" + f"_eyJ{_some(200)}",
    "PlanetScale": "pscale" + f"_tkn_{_some(43)}",
    "Notion": "secret" + f"_{_some(43)}",
    "Cerebras": "csk" + f"-{_some(48)}",
    "Vercel": "vcp" + f"_{_some(56)}",
    "Together": "tgp" + f"_v1_{_some(43)}",
    "E2B": "e2b" + f"_{_some(40, HEX)}",
    "Buildkite": "bkua" + f"_{_some(40, HEX)}",
    "SonarQube": "sqp" + f"_{_some(40, HEX)}",
    "Shippo": "shippo" + f"_live_{_some(40, HEX)}",
    "CircleCI": "CCIPAT" + f"_{_some(22)}_{_some(40, HEX)}",
    "Dynatrace": "dt0c01" + f".{_some(24, CAPITALS)}.{_some(64, CAPITALS)}",
    "Typeform": "tfp" + f"_{_some(59)}",
    "Facebook": "EAACEd" + _some(150),
    "Artifactory": "AKCp" + _some(69),
    "EasyPost": "EZAK" + _some(54),
    "Prefect": "pnu" + f"_{_some(36)}",
    "Fernet": "gAAAAAB" + f"n{_some(90)}==",
    "Fal": "fal" + f"_{_some(40)}",
    "Mem0": "mem0" + f"_{_some(40)}",
}
LIKE_BASE64 = ("Square token", "Facebook", "Artifactory", "EasyPost", "Fernet")
FORMLESS = {
    "hexadecimal (Datadog, Azure)": _some(32, HEX),
    "letters and digits (Cloudflare, Mistral)": _some(40),
    "Azure account key": base64.b64encode(hashlib.sha512(b"a").digest()).decode(),
}

BARE = {
    "alone": "{}",
    "in a sentence": "it is {}, keep it",
    "in a fence": "```\n{}\n```",
    "in an address": "https://x.example/{}",
    "percent-encoded": "a%3D{}%26b",
    "in italics": "this one: _{}_",
    "added in a diff": "+{}",
}
NAMED = {
    "environment": "export SERVICE_API_KEY={}",
    "YAML": "api_key: {}",
    "JSON": '{{"password": "{}", "b": 1}}',
    "Markdown": "- **Access token:** {}",
    "sentence": "my API key is {} ok",
    "header": "curl -H 'X-Api-Key: {}' x",
    "authorization": "Authorization: Bearer {}",
    "option": "deploy --api-key {} now",
    "option with =": "deploy --token={} now",
    "XML": "<settings><password>{}</password></settings>",
    "SQL": "ALTER USER me WITH PASSWORD '{}';",
    "MySQL": "CREATE USER me@localhost IDENTIFIED BY '{}';",
    ".netrc": "machine api.example.com\n  login me\n  password {}\n",
    "curl -u": "curl -s -u me:{} https://x.example",
    "curl over lines": "curl -s \\\n  --user 'me:{}' \\\n  https://x.example",
    "curl -b": "curl -b 'session={}' https://x.example",
    "cookie": "GET / HTTP/1.1\nCookie: theme=dark; session={}\n",
    "cookie behind short ones": "Cookie: theme=1; b=; session={}; x=2",
    "set-cookie": "Set-Cookie: sid={}; Path=/; HttpOnly",
    "query": "https://x.example/?a=1&access_token={}&b=2",
    "percent-encoded": "https://x.example/?token%3D{}%26b%3D2",
    "mysql -p": "mysqldump -h db -u root -p{} app > dump.sql",
    "sshpass": "sshpass -p {} ssh host",
}
BROKEN = {
    "wrapped": "\n",
    "wrapped and indented": "\n    ",
    "broken for a shell": "\\\n",
    "a space of no width": "\u200b",
    "a byte order mark": "\ufeff",
}


def _texts():
    """Every secret in every context: what it must not leave behind, and the text."""
    cases = [
        (secret, frame.format(secret))
        for kind, secret in KINDS.items()
        for name, frame in BARE.items()
        # After a slash it looks like a picture in base64.
        if kind not in LIKE_BASE64 or name != "in an address"
    ]
    everywhere = [*KINDS.values(), *FORMLESS.values()]
    for name, frame in NAMED.items():
        for secret in everywhere:
            is_word = "/" not in secret and "=" not in secret
            if is_word or name in ("environment", "YAML", "JSON"):
                cases.append((secret, frame.format(secret)))
    cases.append(("zK4v9!xQ", "https://me:zK4v9!xQ@example.org/x"))
    cases.append(("zK4v9xQ7", "go to https%3A%2F%2Fme%3AzK4v9xQ7%40example.org"))
    return cases


def _leaks(secret, text):
    """Whether a third of the secret is left, however it is broken."""
    core = secret.rsplit("/", 1)[-1] if secret.startswith("https:") else secret
    flat = text
    for each in ("\u200b", "\ufeff", "\\\n", "\n", " "):
        flat = flat.replace(each, "")
    length = max(8, len(core) // 3)
    return any(core[start : start + length] in flat for start in range(len(core) - length + 1))


@pytest.mark.slow
def test_every_kind_in_every_context():
    """And what has been redacted is not redacted again."""
    left = [text for secret, text in _texts() if _leaks(secret, Redactor().text(text))]
    assert left == []
    for _secret, text in _texts():
        once = Redactor().text(text)
        assert MARK in once and Redactor().text(once) == once


def test_broken_keys():
    """In the middle, a third of the way, or just after the beginning."""
    left = []
    for how, gap in BROKEN.items():
        for kind, secret in KINDS.items():
            if kind == "Mailchimp" and "wrapped" in how:
                continue  # ends with its form, a hash before that is none
            for place in (
                len(secret) // 2,
                len(secret) // 3,
                5 if "wrapped" not in how else len(secret) // 2,
            ):
                text = f"it: {secret[:place]}{gap}{secret[place:]} and more"
                redacted = Redactor().text(text)
                if _leaks(secret, redacted) or not redacted.endswith(" and more"):
                    left.append((how, kind, text))
    assert left == []


@pytest.mark.slow
def test_in_all_formats(tmp_path):
    """What the user wrote, what a tool was told and what it answered."""
    cases = [(secret, text) for secret, text in _texts() if not secret.startswith("https:")]
    for how, gap in BROKEN.items():
        cases += [
            (secret, f"{secret[: len(secret) // 2]}{gap}{secret[len(secret) // 2 :]}")
            for kind, secret in KINDS.items()
            if kind not in ("Mailchimp", "Discord webhook") or "wrapped" not in how
        ]
    messages = [
        {"session_id": "a", "role": role, "content": text}
        for _secret, text in cases
        for role in ("user", "tool")
    ]
    for _secret, text in cases:
        calls = [{"function": {"name": "terminal", "arguments": json.dumps({"command": text})}}]
        messages.append({"session_id": "a", "role": "assistant", "tool_calls": json.dumps(calls)})
    path = make_store(
        tmp_path / "state.db", "22", sessions=[{"id": "a", "source": "cli"}], messages=messages
    )
    for form in (Format.MARKDOWN, Format.JSONL, Format.HTML):
        text = html.unescape(document(path, form, redactor=Redactor()))
        assert text.count(MARK) >= 3 * len(cases)
        assert [secret for secret, _text in cases if secret in text] == []


def test_headers_in_objects():
    """The arguments of a tool call hold headers as keys."""
    redactor = Redactor()
    headers = {
        "Authorization": "Bearer abc123def456ghi",
        "Cookie": "theme=dark; session=abcdef",
        "Accept": "a=b",
    }
    found = redactor.value({"headers": headers})
    assert found == {
        "headers": {
            "Authorization": f"Bearer {MARK}authorization]",
            "Cookie": f"{MARK}cookie]",
            "Accept": "a=b",
        }
    }


SHA = hashlib.sha1(b"x", usedforsecurity=False).hexdigest()
PICTURE = base64.b64encode(random.Random(5).randbytes(60_000)).decode()
HARMLESS = [
    f"commit {SHA}\nAuthor: Jo <jo@example.org>\n\n    {SHA[:7]} a fix\n{SHA}\n{hashlib.md5(b'x').hexdigest()}",
    f"id {uuid.UUID(SHA[:32])}\n{uuid.UUID(SHA[8:40])}\n",
    f"data:image/png;base64,{PICTURE}",
    "\n".join(PICTURE[start : start + 76] for start in range(0, len(PICTURE), 76)),
    "see src/export/part2/readings.py\ntests/export/test_redact2.py\n/usr/lib/python3.11/site-packages/x86_64",
    "| a | b |\n|---|---|\n| `key` | the **token** of `x` |\n\n# Password\n\n- secret: none\n- the key is long",
    'the password is required, the token is base64url, the secret is sha256-hashed, the key is "primary"',
    "Cookie: a small piece of data. cookie: true. Set-Cookie: see RFC 6265. A cookie = a biscuit.",
    "docker run -u 1000:1000 -p 3306:3306 --name mysql -p3306:3306 mysql:8 && curl https://x.example:8080/a",
    "the machine learning login page password reset; machine.example login; password prompt",
    "<Label>Password</Label> <password></password> <token>${TOKEN}</token> <secret>{{ secret }}</secret>",
    "100%25 of it, caf%C3%A9, q=a%20b%26c, width: 50%; rate 3%5",
    "for x in a \\\n  b2c3d4 \\\n  c; do echo \\\n done",
    "the flag \U0001f468\u200d\U0001f469\u200d\U0001f467 of family\u200b7 and naïve\u00adty",
    "task-list pa-ge dp.st.x re_match SKU12345678 pattern gl-matrix sbp_ do_it rnd_state patA.b",
    "_re_match_ _key-value_ (_sk_learn) fal_flux_pro_v1_1_ultra am_I_right fw-update-2 csk-1 secret_santa_2026 "
    "e2b_sandbox access-production-db-1 pat-na1-x sk_LogisticRegression_model_v2 tfp_distributions 1//0.5 EAAC AKCp "
    "am_2024_report_internal_Q4",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret(text):
    """It stays, letter by letter."""
    assert Redactor().text(text) == text
    assert json.loads(Redactor().json_text(json.dumps({"text": text}))) == {"text": text}
