"""Secrets in files as tools show them, as a diff or with numbers, and names that stand apart from their
values; and the texts beside them that only look alike."""

from collections import Counter

import pytest
from test_redact import MIXED, redact

from hermes_browse.store.export.redact import Redactor
from hermes_browse.store.export.secrets import MARK

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
    ("a: 1\nPOSTGRES_PASSWORD: correcthorse\nb: 2", "correcthorse"),
    ("  db_password: correcthorse  # mine", "correcthorse"),
    ("- password: 12345678", "12345678"),
    ("+  passphrase: Winterberg!", "Winterberg!"),
    ("   12|  POSTGRES_PASSWORD: correcthorse", "correcthorse"),
    (r'{"content": "a: 1\npassword: correcthorse\nb: 2', "correcthorse"),
    (r'{"content": "a: 1\npassword: correcthorse"', "correcthorse"),
    ("SERVICE_API_KEY: abcdefghijklmnop", "abcdefghijklmnop"),
    ("token: abcdefghijklmnop", "abcdefghijklmnop"),
    ("password:\n  hunter2Zq", "hunter2Zq"),
    ("password: |\n  correcthorse\nnext: 1", "correcthorse"),
    ('"password":\n    "correcthorse"', "correcthorse"),
    ("   12|  password:\n   13|    hunter2Zq", "hunter2Zq"),
    ("name: API_KEY\nvalue: abcdefghij", "abcdefghij"),
    ('<property name="password"><value>correcthorse</value>', "correcthorse"),
    ("- name: SERVICE_API_KEY\n  value: abcdefghijklmnop", "abcdefghijklmnop"),
    ('- name: DB_PASSWORD\n  value: "correcthorse"', "correcthorse"),
    ('{"name": "API_KEY", "value": "abcdefgh12"}', "abcdefgh12"),
    ('{"Key":"DB_PASSWORD","Value":"correcthorse"}', "correcthorse"),
    ('<property name="password" value="correcthorse"/>', "correcthorse"),
    ("<key>Password</key>\n<string>correcthorse</string>", "correcthorse"),
    ('["deploy", "--password", "correcthorse"]', "correcthorse"),
    ('os.environ["API_KEY"] = "abcdefghij"', "abcdefghij"),
    ('key = os.getenv("API_KEY", "f3A9kd02LsPq")', "f3A9kd02LsPq"),
    ("define( 'DB_PASSWORD', 'correct horse' );", "correct horse"),
    ('const apiKey: string = "abcdefghij";', "abcdefghij"),
    ('var token string = "abcdefghij"', "abcdefghij"),
    ("process.env.API_KEY || 'f3A9kd02LsPq'", "f3A9kd02LsPq"),
    ('let password = Some("f3A9kd02LsPq".to_string());', "f3A9kd02LsPq"),
    ('#define API_KEY "f3A9kd02LsPq"', "f3A9kd02LsPq"),
    ("ENV API_KEY abcdefghij", "abcdefghij"),
    ('setx API_KEY "abcdefghij"', "abcdefghij"),
    ("set -gx OPENAI_API_KEY abcdefghij", "abcdefghij"),
    ("hermes config set OPENAI_API_KEY f3A9kd02LsPq", "f3A9kd02LsPq"),
    ("SSHPASS=correcthorse sshpass -e ssh h", "correcthorse"),
    ("&quot;password&quot;: &quot;correct horse&quot;", "correct horse"),
    (r"\u0022password\u0022:\u0022hunter2Zq\u0022", "hunter2Zq"),
    (r"password\u003dhunter2Zq\u0026a=1", "hunter2Zq"),
    ("| API_KEY | f3A9kd02LsPq |", "f3A9kd02LsPq"),
    ("| `DB_PASSWORD` | `f3A9kd02LsPq` |", "f3A9kd02LsPq"),
]


@pytest.mark.parametrize("text, secret", NAMED)
def test_only_the_value_goes(text, secret):
    """Whole; what is around it stays."""
    before, _, after = text.partition(secret)
    assert redact(text) == (f"{before}{MARK}named-secret]{after}", Counter({"named-secret": 1}))
    assert redact(redact(text)[0])[1] == Counter()


@pytest.mark.parametrize(
    "host", ["machine gitea", "default", "machine git port 993", "machine a.b"]
)
def test_a_netrc_of_any_host(host):
    assert "hunter2" not in redact(f"{host} login bob password hunter2")[0]


HARMLESS = [
    "Authorization: Bearer $TOKEN2 or Bearer YOUR_TOKEN_HERE_1, Basic base64(user:pass); Bearer ${TOKEN}",
    "PASS: test_login_1\nPASS: tests/test_a1.py\n--- PASS: TestLogin1 (0.1s)",
    "SORT_KEY=created_at2 CACHE_KEY=user:v2:profile KEY=user_2",
    "const token = user1.token; f(token=tok1.value, api_key=self2.api_key)",
    "fetch(u, {credentials: 'same-origin'}); fetch(v, { credentials: 'include' })",
    "line 12345678:some_function_name_that_is_long; 1234567890:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "PWD=/home/me/work-1 PWD=~/work-1 TOKEN_KEY=/run/secrets/x1",
    "the line -----BEGIN PRIVATE KEY----- of a file; grep -r 'BEGIN RSA PRIVATE KEY' /etc",
    "password: required\nToken: expired\n- api_key: configured\nOPENAI_API_KEY: present\nPassword: Correct.\n"
    "SERVICE_API_KEY: OpenRouter\nsecret: none",
    "password_reset: allowed\npassword-manager: bitwarden\ntoken_endpoint: abcdefghijklmnopqrstuv\npwd: my-project\n"
    "Password: Forgot?\npassword:\n    - required1\n    - optional",
    "the password: see below\nmy password: is not here\nPassword: as before\npassword: ********\npassword: [hidden]",
    "class Login:\n    password: SecretStr\n    token: CancellationToken\n    pwd: bytes\n    api_key: str | None = None",
    "{\n  user: name,\n  password: hashed\n}\nf({\n  token: verificationCode\n})\ninput X {\n  password: String!\n}",
    "f({\n  password: (form.querySelector('input') || {}).value,",
    r'{"content": "f({\n  password: hashed\n})", "next": "password: of mine"',
    "password: /run/secrets/db\nDB_PASSWORD: ${DB_PASSWORD}\npassword: !vault |\nTOKEN_PATH: abcdefghijklmnop\n"
    "secret: db-credentials\npassword: *default\nAPI_TOKEN: https://x.example/token",
    "password:\n  required: true\nsecret:\n  name: a-secret1\ntoken:\n  description: of the session\n"
    '"token":\n  "description": "text"\npassword: |\n  The one that you chose.',
    "- name: API_KEY\n  valueFrom:\n    secretKeyRef:\n      name: keys1\n      key: api\n"
    "- name: DB_PASSWORD\n  value: $(PW)",
    '["password", "confirm_password", "base_url2"], ("api_key", "gpt-4o"), ("token", "oauth2"), {"secret", "sha256"}',
    'parser.add_argument("--token", "--api-token", default=None)\n'
    'add("--password", type=str)\nadd("--token",\n  default=None)',
    'os.environ["API_KEY"] = os.environ["OTHER"]; d["token"] = value1; d["secret"] = "pending"',
    'os.getenv("API_KEY", "none")',
    "define('CACHE_KEY', 'user_name_1'); define('AUTH_KEY', 'put your unique phrase here');",
    "const token: string = getToken1(); let apiKey: string = process.env.API_KEY || 'http://localhost:11434/v1'",
    "set -x\nENV TOKEN_PATH /run/x1 and ENV token handling1; git config set credential.helper manager1",
    "hermes config set model.api_key_env OPENAI_API_KEY; config set secret manager; hermes config set OPENAI_API_KEY sk-...",
    "| token | oauth2 |\n| API_KEY | required |\n| password | PBKDF2-SHA256 |\n| secret | db-credentials-v2 |\n|---|---|",
    'Only the secret `MEM0_API_KEY` and the token `oauth2`; secret "db-credentials-v2" not found',
    "x: PrivateKey|Ed25519PublicKey|x",
    "machine learning\n# of the\nlogin page\nneeds a password here",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_stands_for_no_secret_stays(text):
    """Variables, names of tests and columns, paths, what a person has to fill in."""
    assert redact(text) == (text, Counter())


@pytest.mark.parametrize(
    "value",
    [
        {"name": "API_KEY", "value": "abcdefghij"},
        {"Value": "abcdefghij", "Key": "DB_PASSWORD"},
        {"name": "Authorization", "value": "Bearer abcdefghij"},
        ["deploy", "--password", "abcdefghij"],
        [["X-Api-Key", "1abcdefghij2"], "token", 7],
    ],
)
def test_names_beside_their_values_in_json(value):
    """The arguments of a tool call have a name and its value as two strings."""
    redactor = Redactor()
    assert "abcdefghij" not in str(redactor.value(value)) and redactor.counts.total() == 1


def test_lists_and_objects_of_harmless_things():
    redactor = Redactor()
    value = [
        ["token", "password", "api_key", "base_url2"],
        {"name": "token", "value": 7, "key": "x"},
        {"key": "Enter", "value": "a word"},
        [None, "a text", 3, "token", ["b"]],
    ]
    assert redactor.value(value) == value and not redactor.counts
