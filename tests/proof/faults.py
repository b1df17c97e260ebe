"""System calls that fail: a library between a process and the C library, and a process that forks
once for each fault.

The library (`LD_PRELOAD`, compiled here by the C compiler of the machine) counts the calls that
touch files below one folder, SQLite's and Python's alike, and has the one with a given number fail:
with EIO or ENOSPC, by writing half of what it was given and then nothing more, or by killing the
process before it. A process loads everything once and forks for each case, so that a case takes a
tenth of a second, not the two of a new Python under strace.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

COMPILER = shutil.which("cc") or shutil.which("gcc")
KINDS = {"EIO": 1, "ENOSPC": 2, "short": 3, "kill": 4}
"""How a call fails, with the number the library knows it by."""

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[4096], names[8192][80];
static size_t length;
static int armed, kind, spoilt = -1;
static long number, count;

static int below(const char *path) { return length && path && strncmp(path, root, length) == 0; }

static char found[4096];
static int ours(int fd) {
    char link[64], *path = found;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t got = readlink(link, found, sizeof found - 1);
    if (got <= 0) return 0;
    path[got] = 0;
    return below(path);
}

void fault_arm(const char *folder, long at, int how) {
    strncpy(root, folder, sizeof root - 1);
    length = strlen(root); number = at; kind = how; count = 0; spoilt = -1; armed = 1;
}
long fault_disarm(void) { armed = 0; return count; }
const char *fault_name(long at) { return at > 0 && at < 8192 ? names[at] : ""; }

/* 0: go on; -1: fail with errno; 1: write half */
static int fault(const char *call, const char *path, int is_write) {
    const char *name = strrchr(path, '/');
    if (++count < 8192) snprintf(names[count], sizeof names[0], "%s %s", call, name ? name + 1 : path);
    if (count != number) return 0;
    if (kind == 4) kill(getpid(), SIGKILL);
    if (kind == 3) return is_write ? 1 : 0;
    errno = kind == 2 ? ENOSPC : EIO;
    return -1;
}
#define REAL(type, name, ...) static type (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, name)
#define ON_FD(call) if (armed && ours(fd) && fault(call, found, 0)) return -1
#define ON_PATH(call, path) if (armed && below(path) && fault(call, path, 0)) return -1

static int opened(const char *name, const char *path, int flags, va_list rest) {
    mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
    ON_PATH((flags & O_ACCMODE) == O_RDONLY ? "open to read" : "open to write", path);
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
    int got = real(path, flags, mode);
    if (armed && got == spoilt) spoilt = -1; /* another file has its number now */
    return got;
}
int open(const char *path, int flags, ...) {
    va_list rest; va_start(rest, flags); int got = opened("open", path, flags, rest); va_end(rest); return got;
}
int open64(const char *path, int flags, ...) {
    va_list rest; va_start(rest, flags); int got = opened("open64", path, flags, rest); va_end(rest); return got;
}
static int half(int fd, int got) { if (got == 1) spoilt = fd; return got; }
#define WRITING(call, all, some) \
    if (armed && ours(fd)) { \
        if (fd == spoilt) { errno = ENOSPC; return -1; } \
        int got = half(fd, fault(call, found, 1)); \
        if (got < 0) return -1; \
        if (got) return some; \
    } \
    return all
ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    WRITING("write", real(fd, data, size), real(fd, data, size / 2));
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    WRITING("write", real(fd, data, size, at), real(fd, data, size / 2, at));
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    WRITING("write", real(fd, data, size, at), real(fd, data, size / 2, at));
}
ssize_t read(int fd, void *data, size_t size) {
    REAL(ssize_t, "read", int, void *, size_t); ON_FD("read"); return real(fd, data, size);
}
ssize_t pread(int fd, void *data, size_t size, off_t at) {
    REAL(ssize_t, "pread", int, void *, size_t, off_t); ON_FD("read"); return real(fd, data, size, at);
}
ssize_t pread64(int fd, void *data, size_t size, off64_t at) {
    REAL(ssize_t, "pread64", int, void *, size_t, off64_t); ON_FD("read"); return real(fd, data, size, at);
}
int fsync(int fd) { REAL(int, "fsync", int); ON_FD("sync"); return real(fd); }
int fdatasync(int fd) { REAL(int, "fdatasync", int); ON_FD("sync"); return real(fd); }
int ftruncate(int fd, off_t size) { REAL(int, "ftruncate", int, off_t); ON_FD("truncate"); return real(fd, size); }
int ftruncate64(int fd, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t); ON_FD("truncate"); return real(fd, size);
}
int unlink(const char *path) { REAL(int, "unlink", const char *); ON_PATH("unlink", path); return real(path); }
int unlinkat(int fd, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int); ON_FD("unlink"); return real(fd, path, flags);
}
int rmdir(const char *path) { REAL(int, "rmdir", const char *); ON_PATH("unlink", path); return real(path); }
int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t); ON_PATH("mkdir", path); return real(path, mode);
}
int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *); ON_PATH("rename", from); return real(from, to);
}
int link(const char *from, const char *to) {
    REAL(int, "link", const char *, const char *); ON_PATH("rename", from); return real(from, to);
}
"""

_SERVER = """
import ctypes, importlib, io, json, os, sys, traceback
from contextlib import redirect_stderr, redirect_stdout
sys.path.insert(0, sys.argv[1])
acting = importlib.import_module("acting")
library = ctypes.CDLL(sys.argv[2])
library.fault_disarm.restype = ctypes.c_long
library.fault_name.restype = ctypes.c_char_p
library.fault_name.argtypes = [ctypes.c_long]
library.fault_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
for line in sys.stdin:
    case = json.loads(line)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        said = io.StringIO()
        try:
            with redirect_stdout(said), redirect_stderr(said):
                os.environ["XDG_DATA_HOME"] = os.path.join(case["folder"], "data")
                library.fault_arm(os.fsencode(case["folder"]), case["at"], case["kind"])
                try:
                    code = acting.act(case["action"], case["folder"])
                finally:
                    count = library.fault_disarm()
            names = [library.fault_name(n).decode() for n in range(1, count + 1)] if case["names"] else []
            answer = {"code": code, "said": said.getvalue(), "calls": names, "count": count,
                      "modules": sorted(sys.modules) if case["names"] else []}
        except BaseException:
            answer = {"code": -1, "said": said.getvalue() + traceback.format_exc(), "calls": [], "count": 0}
        with os.fdopen(writing, "w") as out:
            json.dump(answer, out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answered:
        text = answered.read()
    os.waitpid(child, 0)
    for module in json.loads(text or "{}").get("modules", []):
        if module not in sys.modules and not module.startswith("__"):
            importlib.import_module(module)  # what one child had to load the next ones find
    print(text or '{"code": -9, "said": "", "calls": [], "count": 0}', flush=True)
"""


class Answer(NamedTuple):
    """What became of one case."""

    code: int
    """The exit code; -9 for one that was killed, -1 for a traceback."""
    said: str
    """All it printed."""
    calls: tuple[str, ...]
    """The calls it made below the folder, where they were asked for: `sync state.db-wal`."""
    reached: bool
    """Whether it came to the call that was to fail."""


class Faults:
    """The process that forks.

    Args:
        folder: For the library.
    """

    def __init__(self, folder: Path) -> None:
        assert COMPILER is not None
        library = folder / "faults.so"
        (folder / "faults.c").write_text(_SOURCE)
        command = f"{COMPILER} -shared -fPIC -O1 -w faults.c -o faults.so -ldl"
        subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(Path(__file__).parent), str(library)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LD_PRELOAD": str(library)},
        )

    def run(
        self, action: str, folder: Path, at: int = 0, kind: str = "EIO", *, names: bool = False
    ) -> Answer:
        """Do something in a process of its own.

        Args:
            action: Of `acting.ACTIONS`.
            folder: Holds the store and all else that is touched.
            at: Number of the call that fails; 0 for none.
            kind: How, of `KINDS`.
            names: Whether the calls are wanted.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        case = {"action": action, "folder": str(folder), "at": at, "kind": KINDS[kind]}
        self._process.stdin.write(json.dumps(case | {"names": names}) + "\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        reached = told["code"] == -9 or told["count"] >= at > 0
        return Answer(told["code"], told["said"], tuple(told["calls"]), reached)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
