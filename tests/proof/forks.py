"""A program that runs commands of ours, each in a fork of its own: as good as a new process, and
thirty times as quick.

    python forks.py     JSON on standard input, a line for each: [seconds, arguments]

Answers a line each: [exit code or minus the signal, standard output, standard error].
The time limit of statements is two seconds, so that one that never ends is seen to be ended.
The alarm ends a command that takes too long whatever it is in, SQLite included.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import sys
import tempfile

from hermes_browse.store.connection import reader
from hermes_browse.tui import cli
from hermes_browse.tui.cli import main

reader.TIME_LIMIT = 2.0
for module in pkgutil.iter_modules(cli.__path__):  # once, and not in each fork
    importlib.import_module(f"{cli.__name__}.{module.name}")


def run(seconds: int, arguments: list[str]) -> tuple[int, str, str]:
    """Run one command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            signal.alarm(seconds)
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            code = main(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
        return code, texts[0], texts[1]


if __name__ == "__main__":
    for line in sys.stdin:
        seconds, arguments = json.loads(line)
        print(json.dumps(run(seconds, arguments)), flush=True)
