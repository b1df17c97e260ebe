"""Several stores as one: the profiles of a root, and the stores of hosts; and old
transcripts in files beside a store.

The key of a session among them is its id and the name of its place, as in
`20261124_101500_ab12 work`.
"""


def place_of(session_key: str) -> str:
    """Return the name of the place in the key of a session."""
    return session_key.rpartition(" ")[2]


def id_of(session_key: str) -> str:
    """Return the id of a session, as its own store has it, from its key; an id without a place is
    returned as it is."""
    return session_key.rsplit(" ", 1)[0]
