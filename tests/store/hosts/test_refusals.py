"""What a command on a host says when it fails is raised here, as the error that it was there."""

import pytest

from hermes_browse.store.errors import NotFoundError, StoreError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.running import Reply, refusal

VPS = Host("vps", "me@vps")


@pytest.mark.parametrize(
    ("reply", "kind", "sentence"),
    [
        (Reply(3, "", "some noise\nhermes-browse: no such store\n"), StoreError, "no such store"),
        (Reply(4, "", ""), NotFoundError, ""),
    ],
)
def test_what_a_command_says_is_passed_on(reply, kind, sentence):
    """With the name of the host."""
    with pytest.raises(kind, match=f"^vps: .*{sentence}"):
        raise refusal(VPS, reply)
