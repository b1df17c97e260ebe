"""Small jobs at the terminal: an archived chain, a tool that timed out, a question taken back."""

from __future__ import annotations

from .chat import begin
from .family import compress
from .script import DEEPSEEK, HAIKU, LOCAL, Script

_API, _TIDE = "/home/noor/src/skerry-api", "/home/noor/src/tidewatch"


def play(script: Script) -> None:
    """Draft the small jobs."""
    _migration(script)
    _images(script)
    _questions(script)


def _migration(script: Script) -> None:
    talk = begin(
        script,
        "mig",
        script.ago(days=96),
        title="Move staging to the new host",
        cwd="/home/noor/src/infra",
        git_branch="main",
        archived=1,
    )
    talk.play("""
you> We move staging to the new host this week. Start with a list of what must not be forgotten.
hermes> - [ ] DNS TTL down to 60 s, two days before
- [ ] Database: dump, restore, compare row counts per table
- [ ] `/var/lib/skerry/uploads` (41 GB, rsync twice)
- [ ] systemd units, timers **and** the mail relay password
- [ ] Certificates: new account key, old one revoked
- [ ] Monitoring points at the new address
- [ ] A page that says "staging moved", on the old one
you> Do the rsync now, dry run first.
terminal> rsync -an --stats old:/var/lib/skerry/uploads/ /var/lib/skerry/uploads/ | head -3
Number of files: 88,214 (reg: 88,190, dir: 24)
Number of created files: 88,214
Total file size: 41.07G bytes
hermes> 88,214 files, 41 GB. On this link about 70 minutes.
you> Go.
""")
    talk.use(
        "terminal",
        "rsync -a old:/var/lib/skerry/uploads/ /var/lib/skerry/uploads/",
        "Error executing tool 'terminal': timed out after 600.0s",
        seconds=600.0,
        effect="unknown",
    )
    talk.play("""
hermes> The call ran into the ten-minute limit of the terminal. rsync may still be running; I will look before I start \
a second one.
terminal> pgrep -a rsync | head -1; du -sh /var/lib/skerry/uploads
4119 rsync -a old:/var/lib/skerry/uploads/ /var/lib/skerry/uploads/
6.2G	/var/lib/skerry/uploads
hermes> Still going, 6 of 41 GB. I will leave it alone and check in an hour.
""")
    tip = compress(
        talk,
        "Staging moves to the new host. Uploads: rsync started, 41 GB, about 70 minutes. List of seven steps made.",
        title="Move staging to the new host #2",
    )
    tip.draft.columns["archived"] = 1
    tip.play("""
wait> 1.5
you> Is it through?
terminal> pgrep -c rsync; rsync -an --stats old:/var/lib/skerry/uploads/ /var/lib/skerry/uploads/ | grep created
0
Number of created files: 0
hermes> Through, and a dry run finds nothing left to copy.
you> Good. I will do the rest by hand. Thanks.
""").end("cli_close")


def _images(script: Script) -> None:
    begin(
        script,
        "images",
        script.ago(days=41),
        title="Free disk space on the build box",
        cwd="/home/noor",
        archived=1,
        model=HAIKU,
    ).play("""
you> The build box has 2 % free. What eats it?
terminal> df -h / | tail -1; docker system df
/dev/sda1       98G   95G  1.9G  98% /
TYPE            TOTAL     ACTIVE    SIZE      RECLAIMABLE
Images          214       6         61.3GB    58.8GB (95%)
Build Cache     1033      0         19.7GB    19.7GB
hermes> Docker: 58.8 GB of images nobody uses and 19.7 GB of build cache. `docker system prune -a` would free about \
78 GB; \
the next build of each project would be slow once. Shall I?
you> Yes.
terminal> docker system prune -af | tail -1
Total reclaimed space: 78.1GB
hermes> 78.1 GB free again. A weekly timer would keep it so.
""").end("cli_close")


def _questions(script: Script) -> None:
    begin(script, "regex", script.ago(days=12, hours=1), cwd=_API, model=LOCAL).play(r"""
you> regex for log lines like `5 06:00:00 INFO keys: rotated` – day, time, level, logger, text
hermes> ```python
LINE = re.compile(r"(?P<day>\d+) (?P<time>[\d:]{8}) (?P<level>[A-Z]+) (?P<logger>[\w.]+): (?P<text>.*)")
```
you> make the level optional
hermes> ```python
LINE = re.compile(r"(?P<day>\d+) (?P<time>[\d:]{8}) (?:(?P<level>[A-Z]+) )?(?P<logger>[\w.]+): (?P<text>.*)")
```
""").rewind(2).play(r"""
you> keep the level, but allow brackets around it
hermes> ```python
LINE = re.compile(r"(?P<day>\d+) (?P<time>[\d:]{8}) \[?(?P<level>[A-Z]+)\]? (?P<logger>[\w.]+): (?P<text>.*)")
```
""").end("cli_close")
    begin(script, "deep", script.ago(days=27, hours=6), cwd=_TIDE, git_branch="main", model=DEEPSEEK).play("""
you> explain lifetimes in `fn longest<'a>(x: &'a str, y: &'a str) -> &'a str` like I know C++ but not Rust
think> She knows C++. Analogy: returning a reference to one of two arguments; the compiler must know it outlives \
neither.
hermes> In C++ you may write `const std::string& longest(const std::string& x, const std::string& y)` and hope the \
caller \
keeps both alive. `'a` is that hope, written down: *the result may be used only as long as **both** arguments live*. \
The compiler then refuses

```rust
let winner;
{
    let short_lived = String::from("Vrångö");
    winner = longest("Donsö", &short_lived);
}                       // short_lived dies here
println!("{winner}");   // error: does not live long enough
```

where C++ would print something, most days.
you> so it is a constraint, not an annotation of actual duration
hermes> Exactly. `'a` names no scope. The compiler picks one at every call, small enough for both arguments, and \
checks \
that the result stays inside it.
""").end("cli_close")
