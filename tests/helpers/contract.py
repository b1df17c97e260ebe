"""What every JSON document holds: keys and types; more keys are allowed, fewer or other types are
not."""

from __future__ import annotations

DOCUMENTS = """
STORE: path=str profile=str? schema_version=int? journal_mode=wal|delete? bytes=int wal_bytes=int
  sessions=int? messages=int? read_only=bool warnings=str[]
TOKENS: input=int output=int cache_read=int cache_write=int reasoning=int
CONVERSATION: id=str root_id=str segments=str[] title=str? preview=str source=str model=str? cwd=str?
  started_at=float? last_active=float? ended_at=float? end_reason=str? status=live|open|ended|empty
  archived=bool pinned=bool hidden=bool prune_in_days=float? kind=chat|automation|subagent
  message_count=int tool_call_count=int branches=int subagents=int tokens=TOKENS cost_usd=float?
  tree_cost_usd=float? bytes=int? tags=str[]
HIDDEN: automation=int archived=int other=int
LIST: store=STORE? view=chats|automation|archived|all shown=int total=int hidden=HIDDEN
  conversations=CONVERSATION[]

HIT: message_id=int session_id=str conversation_id=str role=str timestamp=float? snippet=str
  match=int[][] state=live|compacted|rewound
CONTEXT: message_id=int role=str text=str
SUGGESTION: query=str
SEARCH: query=str engine=fts5|trigram|scan|mixed|none complete=bool elapsed_ms=float total=int?
  hits=HIT[] suggestions=SUGGESTION[]

PART: type=str text=str
CALL: id=str name=str arguments=str
MESSAGE: id=int session_id=str role=str text=str parts=PART[] tool_calls=CALL[] tool_call_id=str?
  tool_name=str? reasoning=str? timestamp=float? finish_reason=str? state=live|compacted|rewound
  is_summary=bool
SHOW: conversation=CONVERSATION messages=MESSAGE[]

NOTE: code=str text=str
GAP: first=int last=int count=int
TERM: term=str kind=str count=int last_message_id=int
COMPACTION: at=float? kind=rotation|in_place session_id=str into_session_id=str? replaced=int[]
  summary=int? kept=int[] tokens_before=int? tokens_after=int? bytes_before=int bytes_after=int
  before=int[] merged=int? originals=int?[] shortened=int[] not_stored_again=int[] since=int[]
  empty_sessions=str[] gap=GAP? known=bool notes=NOTE[]
LOST: lost=TERM[] lost_complete=bool
COMPACTIONS: conversation=CONVERSATION compactions=COMPACTION[]
GIVEN: why=head|summary|kept|since certain=bool
KNOWN: conversation_id=str session_id=str at=int? of=int? certain=bool system_prompt=str?
  messages=MESSAGE[] tokens=int? bytes=int notes=NOTE[]

NODE: id=str parent_id=str? relation=root|continued|branched|delegated|reset|unknown|orphan
  on_path=bool title=str? source=str status=live|open|ended|empty message_count=int
  started_at=float? last_active=float? cost_usd=float? tree_cost_usd=float? tags=str[]
TARGET: id=str reason=str
LINEAGE: focus=str resume=TARGET nodes=NODE[]

EDIT: message_id=int session_id=str tool=str at=float? ok=bool
CHANGED: path=str edits=EDIT[] added=int? removed=int? exact=bool by_subagents=int
  disk=same|changed|gone?
COMMAND: message_id=int session_id=str command=str
CHANGES: session=str conversation=str files=CHANGED[] failed=int commands=COMMAND[]
LINE: line=int text=str message_id=int? session_id=str? prompt_id=int? prompt=str?
BLAME: file=str lines=LINE[]
MARK: kind=loop|cache|gap|slowest|dearest message_id=int? text=str
SUBAGENT: session=str from=float? to=float? cost_usd=float?
RUN: conversation=str from=float? to=float? cost_usd=float? tree_cost_usd=float? marks=MARK[]
  subagents=SUBAGENT[]

ENVIRONMENT: HERMES_HOME=str
RESUME: argv=str[] env=ENVIRONMENT target=str reason=str warnings=NOTE[]

INDEX: fts5=bool trigram=bool indexed=int messages=int
HERMES: path=str version=str?
PROBLEM: severity=error|warning|info code=str text=str remedy=str
DOCTOR: store=STORE search=INDEX hermes=HERMES? terminal=dict problems=PROBLEM[]
PROFILE: name=str path=str active=bool sessions=int? bytes=int error=str?
PROFILES: root=str active=str profiles=PROFILE[]

BUNDLE: name=str created_at=float sessions=str[] messages=int bytes=int title=str?
  conversations=str[] store=str? restored_at=float? damage=str?
DELETE: deleted=str[] reparented=str[] bundle=BUNDLE messages=int notes=str[]
TRASH: bundles=BUNDLE[] folder=str
RESTORE: restored=str[] messages=int verified=bool notes=str[] bundles=str[]
DROP: dropped=BUNDLE[]
PLAN: conversations=int sessions=int messages=int bytes=int cost_usd=float? free_bytes=int
  given_back_bytes=int
SPARED: id=str reason=str
PRUNE: plan=PLAN would=CONVERSATION[] spared=SPARED[] done=bool bundles=BUNDLE[]
STANDING: standing=ended|stale-open takes_along=str[]
FILE: path=str conversations=str[] sessions=int messages=int bytes=int
EXPORT: format=markdown|jsonl|html files=FILE[] everything=bool left_out=dict redact=bool
  redacted=dict
SUMS: conversations=int sessions=int archived_sessions=int messages=int input_tokens=int
  output_tokens=int cache_read_tokens=int cache_write_tokens=int reasoning_tokens=int
  cost_usd=float cost_estimated_usd=float cost_actual_usd=float cost_unknown_sessions=int
  cost_included_sessions=int bytes=int?
GROUP: key=str bytes=int?
STATS: total=SUMS by=SUMS[]
GROUPS: by=GROUP[]
"""
"""A line for each object: its name, and its keys with what they hold. `?` is or null, `[]` a list of
such, `|` stands between words that a text is one of."""


def _parsed(line: str) -> tuple[str, dict[str, str]]:
    name, _colon, keys = line.partition(":")
    return name, dict(key.split("=") for key in keys.split())


_OBJECTS = dict(
    _parsed(line) for line in DOCUMENTS.replace("\n  ", " ").splitlines() if line.strip()
)
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "dict": (dict,),
}
"""`bool` is no number here, and an integer is a fine float."""


def holds(value: object, kind: str, where: str = "$") -> None:
    """Fail with the place where a document, or a value in it, is not of a kind."""
    told = f"{where} is {type(value).__name__} ({value!r:.200}), not {kind}"
    if kind.endswith("?"):
        if value is not None:
            holds(value, kind[:-1], where)
    elif kind.endswith("[]"):
        assert isinstance(value, list), told
        for place, item in enumerate(value):
            holds(item, kind[:-2], f"{where}[{place}]")
    elif kind in _OBJECTS:
        assert isinstance(value, dict), told
        for name, inner in _OBJECTS[kind].items():
            assert name in value, f"{where} lacks {name}"
            holds(value[name], inner, f"{where}.{name}")
    elif kind in _TYPES:
        assert type(value) in _TYPES[kind], told
    else:
        assert value in kind.split("|"), told
