#!/usr/bin/env python3
"""Mutation test of C files: change one operator or constant at a time, rebuild,
run the named meson tests, and list the changes that no test saw.

  scripts/mutate.py lib/stats.c lib/stats_modes.c --tests stats_edges stats
                    [--build DIR] [--sample N] [--seed S] [--minimum PERCENT]

A file is edited in place and always put back. The first test that fails ends a
mutant; the test that found the one before comes first, then those that find
most in the least time. A change that does not compile counts neither way, and
no more does one that leaves the object code as it was, to the byte: build with
-Ddebug=false, since debug information tells columns.
"""

import argparse
import collections
import ctypes
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import time

SWAPS = {
    "<=": ["<", ">"], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "<": ["<=", ">"], ">": [">=", "<"], "&&": ["||"], "||": ["&&"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
    "++": ["--"], "--": ["++"], "true": ["false"], "false": ["true"],
    "break": ["continue"], "continue": ["break"],
    "fmin": ["fmax"], "fmax": ["fmin"],
}
TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'
        |^[ \t]*\#[ \t]*(?:include|if|ifdef|ifndef|else|elif|endif)[^\n]*
        |->|<<=?|>>=?)
      |(?P<number>(?<![\w.])\d[\w.]*(?:[eEpP][+-]\d+)?)
      |(?P<word>\b(?:true|false|break|continue|fmin|fmax)\b)
      |(?P<op>\+\+|--|[-+*/]=|[<>=!]=|&&|\|\||[-+*/%<>])""",
    re.S | re.M | re.X)
LIMIT_BYTES = 8 << 30  # of address space: a mutant that only allocates ends


def numbers(text):
    """Neighbours of a literal, its suffix kept."""
    match = re.fullmatch(r"(\d+)([uUlL]*)", text)
    if match:
        value = int(match.group(1))
        return [f"{value + 1}{match.group(2)}"] + (
            [f"{value - 1}{match.group(2)}"] if value else [])
    if re.fullmatch(r"(\d*\.\d+|\d+\.\d*|\d+)([eE][+-]?\d+)?", text):
        return [repr(float(text) * 1.5 + 0.1)]
    return []


def mutants(source):
    for match in TOKEN.finditer(source):
        text, kind = match.group(), match.lastgroup
        if kind == "skip":
            continue
        before = source[:match.start()].rstrip()
        pointer = text == "*" and (not before or before[-1] in "(,=;{}&|!"
                                   or source[match.end()] not in " \n")
        unary = text in "+-" and before[-1:] in "(,=<>+-*/%?:[{&|"
        if pointer or (unary and text == "+"):
            continue
        choices = numbers(text) if kind == "number" else SWAPS.get(text, [])
        if unary:
            choices = [""]
        for new in choices:
            yield match.start(), match.end(), new


def line_of(source, at):
    return source.count("\n", 0, at) + 1


def confine(cpu):
    """In the child: it dies with its parent, and ends by itself."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, cpu, **options):
    """Exit status, or None when it ran past ten times the limit of CPU time,
    which holds for each process: on a busy machine only the clock runs fast.
    Whatever it started is killed with it."""
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=lambda: confine(int(cpu)), **options)
    try:
        return child.wait(timeout=10 * cpu)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()


class Test:
    """A test program, run without meson, which takes a second to start."""

    def __init__(self, record, build):
        self.name = record["name"]
        self.command = record["cmd"]
        self.options = {"cwd": record.get("workdir") or build,
                        "env": dict(os.environ, **record["env"])}
        self.target = os.path.relpath(self.command[0], build)
        self.cpu = 0.0
        self.found = 0

    def passes(self, limit):
        return run(self.command, limit, **self.options) == 0


class Build:
    def __init__(self, folder, names):
        self.folder = os.path.abspath(folder)
        info = pathlib.Path(folder, "meson-info", "intro-tests.json")
        records = {r["name"]: r for r in json.loads(info.read_text())}
        missing = [name for name in names if name not in records]
        if missing:
            sys.exit(f"mutate: no test {', '.join(missing)} in {folder}")
        self.tests = [Test(records[name], self.folder) for name in names]
        self.last = None

    def make(self, *targets):
        return run(["ninja", "-C", self.folder, "-j2", *targets], 600) == 0

    def objects(self, source):
        """What is compiled from this file."""
        commands = pathlib.Path(self.folder, "compile_commands.json")
        return [c["output"] for c in json.loads(commands.read_text())
                if (pathlib.Path(c["directory"]) / c["file"]).resolve()
                == source.resolve()]

    def digest(self, objects):
        return [hashlib.sha256(pathlib.Path(self.folder, o).read_bytes())
                .digest() for o in objects]

    def measure(self):
        """All must pass unchanged; a test's limit follows from its time."""
        if not self.make():
            sys.exit("mutate: the tree must build unchanged")
        for test in self.tests:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            if not test.passes(600):
                sys.exit(f"mutate: {test.name} must pass unchanged")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            test.cpu = (after.ru_utime + after.ru_stime - before.ru_utime
                        - before.ru_stime)

    def order(self):
        return sorted(self.tests, key=lambda t: (
            t is not self.last, -(t.found + 1) / (t.cpu + 0.2)))

    def judge(self, objects, unchanged):
        if not self.make(*objects):
            return "no build"
        if self.digest(objects) == unchanged:
            return "same code"
        for test in self.order():
            if not self.make(test.target):
                return "no build"
            if not test.passes(5 + 10 * test.cpu):
                test.found += 1
                self.last = test
                return "caught"
        return "survived"


def mutate(build, path, sample, seed):
    """Counts by outcome; prints what survived."""
    source = path.read_text()
    chosen = list(mutants(source))
    total = len(chosen)
    if sample and sample < total:
        chosen = sorted(random.Random(seed).sample(chosen, sample))
    objects = build.objects(path)
    if not objects or not build.make(*objects):
        sys.exit(f"mutate: nothing is built from {path}")
    unchanged = build.digest(objects)
    counts = collections.Counter()
    lines = source.split("\n")
    start = time.monotonic()
    try:
        for begin, end, new in chosen:
            path.write_text(source[:begin] + new + source[end:])
            result = build.judge(objects, unchanged)
            counts[result] += 1
            if result == "survived":
                line = line_of(source, begin)
                print(f"{path}:{line}: {source[begin:end]!r} -> {new!r}: "
                      f"{lines[line - 1].strip()}", flush=True)
    finally:
        path.write_text(source)
    print(f"{path}: {len(chosen)} of {total} tried; {told(counts)}; "
          f"{time.monotonic() - start:.0f} s", flush=True)
    return counts


def share(counts):
    judged = counts["caught"] + counts["survived"]
    return 100 * counts["caught"] / judged if judged else 0


def told(counts):
    return (f"{counts['caught']} caught, {counts['survived']} survived "
            f"({share(counts):.1f}% caught), {counts['same code']} the same "
            f"code, {counts['no build']} did not compile")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--tests", nargs="+", required=True,
                        help="names of meson tests")
    parser.add_argument("--build", default="build")
    parser.add_argument("--sample", type=int, default=0,
                        help="try this many of a file, chosen by --seed "
                             "(default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minimum", type=float, default=0,
                        help="fail below this percentage caught, of one file "
                             "or of all")
    args = parser.parse_args()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    build = Build(args.build, args.tests)
    build.measure()
    all_counts = []
    try:
        for path in args.files:
            all_counts.append(mutate(build, path, args.sample, args.seed))
    finally:
        build.make()
    whole = sum(all_counts, collections.Counter())
    print(f"all: {told(whole)}")
    print("found by: " + ", ".join(f"{t.name} {t.found}" for t in sorted(
        build.tests, key=lambda t: -t.found)))
    if min(share(c) for c in [*all_counts, whole]) < args.minimum:
        sys.exit(1)


if __name__ == "__main__":
    main()
