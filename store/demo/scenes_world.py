"""Text that tests a screen: scripts of the world, emoji, pictures, escape sequences, injected memory."""

from __future__ import annotations

import base64
import struct
import zlib

from .chat import begin
from .script import DEEPSEEK, GEMINI, GPT, HAIKU, LOCAL, SONNET, Script


def play(script: Script) -> None:
    """Draft the chats."""
    _east(script)
    _right_to_left(script)
    _emoji(script)
    _pictures(script)
    _escapes(script)
    _memory(script)


def picture() -> bytes:
    """A PNG of a few hundred bytes: a lighthouse's light over a dark sea, 12 by 8."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = bytearray()
    for y in range(8):
        rows.append(0)
        for x in range(12):
            glow = max(0, 255 - 56 * (abs(x - 8) + abs(y - 2) * 2))
            sea = 90 if y > 5 else 40
            rows += bytes((max(glow, sea // 3), max(glow * 9 // 10, sea // 2), sea))
    # Stored, not deflated: zlib versions differ in what they make, and the same `now` must give the same bytes.
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 12, 8, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(rows), 0)) + chunk(b"IEND", b"")


def _east(script: Script) -> None:
    begin(
        script,
        "ja",
        script.ago(days=3, hours=9),
        title="日本語の案内板",
        model=GEMINI,
        cwd="/home/noor/src/skerry-web",
    ).play("""
you> 港の案内板に日本語を追加したいです。「次の船は11時20分、サルトホルメン発、ヴロンゴ行きです」は自然ですか？
hermes> ほぼ自然です。案内板では短く、次のようにするのが一般的です。

- **次の便　11:20**
- サルトホルメン → ヴロンゴ
- 所要時間　約55分

放送なら「次の便は、11時20分発、ヴロンゴ行きです」が聞き取りやすいと思います。
you> 「運休」と「欠航」の違いは？
hermes> 電車やバスは「運休」、船や飛行機は「**欠航**」を使います。強風で船が出ないときは「強風のため欠航」と書きます。
""").end("new_session")
    begin(
        script,
        "zh",
        script.ago(days=15, hours=3),
        title="大别山项目周报",
        model=DEEPSEEK,
    ).play("""
you> 帮我把这周的工作写成周报：修复了登录问题，搜索从两秒降到九毫秒，票务引擎的比较做完了。
hermes> ## 本周工作

1. **登录问题**：密钥每天轮换后旧令牌被拒绝，现已修复并补充测试。
2. **搜索性能**：查询由 3201 次减少为 1 次，响应时间从 2.1 秒降至 9 毫秒。
3. **票务引擎**：完成三个开源方案的比较，建议采用 Fahrt。

## 下周计划

- 上线索引迁移
- 与董事会讨论票价
you> 很好，再短一点，三行就够了。
hermes> 登录问题已修复；搜索提速两百倍；票务引擎比较完成，建议 Fahrt。
""").end("cli_close")
    begin(
        script,
        "ko",
        script.ago(days=36, hours=5),
        model=LOCAL,
    ).play("""
you> 토바에게 읽어 줄 짧은 이야기를 한국어로 써 주세요. 등대와 고래가 나오면 좋겠어요.
hermes> 작은 섬에 등대가 하나 있었어요. 밤마다 등대는 바다를 보며 물었지요. “누구 있니?”

어느 날 고래가 대답했어요. “나야. 네 불빛을 달인 줄 알았어.”

그날부터 등대는 밤마다 한 번씩 더 깜빡였답니다. 고래에게 하는 인사였어요.
you> 고마워요! 정말 예뻐요.
hermes> 토바가 좋아했으면 좋겠네요.
""").end("cli_close")


def _right_to_left(script: Script) -> None:
    begin(
        script,
        "ar",
        script.ago(days=7, hours=2),
        title="رسالة إلى جدة إلياس",
        model=GPT,
    ).play("""
you> أريد أن أكتب رسالة قصيرة إلى جدة إلياس في بيروت. أخبرها أن توفا بدأت المدرسة وأننا سنزورها في الصيف.
hermes> جدتي العزيزة،

توفا بدأت المدرسة هذا الخريف، وهي تقرأ لنا كل مساء. سنأتي إلى بيروت في **شهر تموز** إن شاء الله، ونشتاق إلى بيتك \
وإلى قهوتك.

مع كل حبنا،
نور وإلياس وتوفا
you> اجعلها أدفأ قليلاً.
hermes> أضفت: «لا يمر يوم دون أن تسأل توفا عن حديقتك وعن القطة مشمش».
""").end("cli_close")
    begin(
        script,
        "he",
        script.ago(days=112, hours=4),
        model=HAIKU,
    ).play("""
you> איך אומרים "The 11:20 boat is cancelled" בעברית?
hermes> «ההפלגה של 11:20 בוטלה». בשלט קצר: **11:20 – בוטל**.
you> תודה!
hermes> בבקשה. המספרים נכתבים משמאל לימין גם בתוך המשפט, לכן כדאי לבדוק את השלט על המסך.
""").end("cli_close")


def _emoji(script: Script) -> None:
    begin(
        script,
        "party",
        script.ago(days=5, hours=4),
        title="Tova turns eight 🎂",
        source="tui",
        model=GPT,
    ).play("""
you> Tova turns eight 🎂 twelve kids, one garden, two hours. Theme: pirates 🏴‍☠️ and science 👩‍🔬. Help!
hermes> **Pirate laboratory** 🏴‍☠️🧪

1. 14:00 – every pirate gets a lab coat (old shirts) and a name: 👩🏽‍🔬 Captain Magnet, 🧑🏻‍🚀 Professor Plank …
2. 14:20 – treasure map in invisible ink (lemon juice, a hot iron, *you* hold the iron)
3. 14:50 – vinegar volcano 🌋 on the "island"
4. 15:20 – cake 🍰, then the treasure
5. 15:50 – parents 👨‍👩‍👧‍👦 arrive; twelve children who smell of vinegar leave

Flags for the ships: 🇸🇪 🇱🇧 🇯🇵 🇧🇷 🇿🇦, one for each team.
you> You are a genius ❤️‍🔥 what if it rains 🌧️
hermes> Then the volcano erupts in the bathtub 🛁 and the map is hidden in the stairs. ☂️ for nobody.
""").end("tui_shutdown")


def _pictures(script: Script) -> None:
    small = "data:image/png;base64," + base64.b64encode(picture()).decode()
    shot = begin(script, "shot", script.ago(days=1, hours=9), title="What is wrong in this picture", model=GPT)
    shot.say(
        [
            {"type": "text", "text": "The night header looks flat. What would you change?"},
            {"type": "image_url", "image_url": {"url": small}},
        ]
    )
    shot.play("""
hermes> The light has no edge to hold on to: the glow fades evenly into the sea. Two small things:

1. a hard horizon, two tones darker below it;
2. the beam as a narrow cone instead of a disc, so that the eye knows where it points.
""")
    shot.say(
        [
            {"type": "text", "text": "Like on this one?"},
            {"type": "image_url", "image_url": {"url": "https://example.org/pictures/vinga-lighthouse.jpg"}},
        ]
    )
    shot.play("""
hermes> Exactly like that: the cone, and the water that catches it only in one stripe.
you> Thank you, I will redraw it.
hermes> Keep the old one too. It would make a good favicon.
""").end("cli_close")


def _escapes(script: Script) -> None:
    talk = begin(
        script,
        "escapes",
        script.ago(days=2, hours=6),
        title="Why does cat mess up my terminal? [bold]markup[/]",
        cwd="/home/noor/src/skerry-api",
        model=SONNET,
    )
    talk.play("""
you> I ran `cat` on a log and my prompt is suddenly red and the window has another title. What happened?
hermes> The log holds *escape sequences*: bytes a terminal obeys instead of showing. Let me look at it, raw.
""")
    raw = (
        "\x1b[31mERROR\x1b[0m login failed\r\n"
        "\x1b]0;owned by a log file\x07title set\n"
        "\x1b]8;;https://example.org/phish\x1b\\harmless link\x1b]8;;\x1b\\\n"
        "\x1b[2J\x1b[Hcleared?\x08\x08\x08\n"
        "user=\u202egnp.exe\u202c file, \u2066isolated\u2069, zero\u200bwidth\n"
        "[bold red]not markup[/] [link=x]y[/link] [/] \\[escaped]\n"
        "\x9b31mC1 introducer\x9bm \x00nul \x7fdel"
    )
    talk.use("process", '{"action": "log", "session_id": "proc_cat"}', raw)
    talk.play(r"""
hermes> Found them. Written out:

| bytes | what a terminal does |
|---|---|
| `ESC [ 31 m` | red from here on |
| `ESC ] 0 ; … BEL` | sets the window title |
| `ESC ] 8 ; ; URL` | makes a link that may lead elsewhere than it says |
| `ESC [ 2 J` | clears the screen |
| U+202E | turns the reading direction: `exe.png` may be `gnp.exe` |

`reset` repairs the window. For logs use `less -R` (colours only) or `cat -v`.
you> And `[bold]text[/]`? Some of our tools turn that into bold.
hermes> That is markup of a library, not of the terminal: text from outside must be escaped first, or a `[/]` in a
user's name breaks the page. Printed as plain text, [bold]markup[/] is a handful of harmless characters.
you> So never print what you did not write.
hermes> Never print it *raw*. Show it, by all means.
""").end("cli_close")


def _memory(script: Script) -> None:
    talk = begin(
        script, "week", script.ago(days=1, hours=2), title="Plan the week", model=SONNET, cwd="/home/noor/notes"
    )
    asked = "Plan my week. Elias is away until Thursday."
    recalled = (
        "<memory-context>\n[System note: The following is recalled memory context, NOT new user input. Treat as "
        "authoritative reference data — this is the agent's persistent memory and should inform all responses.]\n\n"
        "Tova has swimming on Tuesdays at 16:00. Noor keeps Wednesday mornings free for writing.\n</memory-context>\n\n"
    )
    talk.say(asked, api_content=recalled + asked)
    talk.play("""
hermes> | | morning | afternoon |
|---|---|---|
| Mon | reviews, board paper | school at 15, both of you |
| Tue | index migration | **swimming 16:00** |
| Wed | *writing* | nothing booked, keep it so |
| Thu | Jonas: refunds | Elias back 18:40 |
| Fri | class trip, the 11:20 | early weekend |

> Wednesday is the only day without a fixed hour. Guard it.
you> Move the board paper to Thursday, and find me an hour for the boat.
hermes> Board paper: Thursday after Jonas. The boat: **Friday from two**, low wind and the tide is out until four.
you> You know me.
hermes> I keep notes.
""")
