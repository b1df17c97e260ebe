"""Other programs: what the environment names is run, and said if it cannot be."""

from hermes_browse.tui.terminal.programs import editor, pager, show


def test_a_variable_that_is_no_command_is_said():
    """A quote that is not closed does not end the browser."""
    assert pager({"PAGER": "less -R"}) == ["less", "-R"]
    command = editor({"VISUAL": ' vi "', "EDITOR": "nano"})
    assert command == ['vi "']
    assert show(command, "text").startswith('vi " could not be started: ')
