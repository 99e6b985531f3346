#!/usr/bin/env python3
"""Mutation test of C files: change one operator or constant at a time, compile
it, run the named meson tests, and list the changes that no test saw.

  scripts/mutate.py lib/stats.c lib/stats_modes.c --tests stats_edges stats
                    [--build DIR] [--sample N] [--seed S] [--minimum PERCENT]
                    [--seconds S] [--again REPORT]

The tree stays as it is: a mutant is compiled elsewhere and linked into the test
programs in front of the archive that holds the original. The first test that
fails ends it; the test that found the one before comes first, then those that
find most in the least time. A change that does not compile counts neither way,
and no more does one that leaves the object code as it was, to the byte: build
with -Ddebug=false, since debug information tells columns.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
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
JOBS = 2  # test programs at a time
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


class Mutant:
    def __init__(self, path, source, begin, end, new):
        start = source.rfind("\n", 0, begin) + 1
        self.text = source[:begin] + new + source[end:]
        self.line = source.count("\n", 0, begin) + 1
        # Without the line's number: code above it may change.
        self.key = (f"{begin - start + 1}: {source[begin:end]!r} -> {new!r}: "
                    + source[start:source.find("\n", begin)].strip())
        self.name = f"{path}:{self.line}:{self.key}"


def choose(path, source, args):
    """The mutants to try, and how many there are."""
    every = [Mutant(path, source, *at) for at in mutants(source)]
    chosen = every
    if args.again:
        lived = {line.split(":", 2)[2] for line in
                 args.again.read_text().splitlines()
                 if line.startswith(f"{path}:") and line.count(":") > 3}
        chosen = [m for m in every if m.key in lived]
    elif args.sample and args.sample < len(every):
        # In no order: a run that is stopped has tried a fair sample too.
        chosen = random.Random(args.seed).sample(every, args.sample)
    return chosen, len(every)


def run(command, cpu, **options):
    """Exit status, or None when it ran past ten times the limit of CPU time,
    which holds for each process: on a busy machine only the clock runs fast.
    Whatever it started is killed with it, and it dies with this script."""
    confined = ["prlimit", f"--cpu={int(cpu)}", f"--as={LIMIT_BYTES}",
                "--core=0", "setpriv", "--pdeathsig", "KILL", "--", *command]
    child = subprocess.Popen(
        confined, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True, **options)
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
        self.arguments = record["cmd"][1:]
        self.options = {"cwd": record.get("workdir") or build,
                        "env": dict(os.environ, **record["env"])}
        target = os.path.relpath(record["cmd"][0], build)
        commands = subprocess.run(
            ["ninja", "-C", build, "-t", "commands", target], check=True,
            capture_output=True, text=True).stdout.splitlines()
        self.link = shlex.split(commands[-1])
        self.output = self.link.index("-o") + 1
        self.cpu = 0.0
        self.found = 0

    def build(self, folder, built, mutant):
        """Links this object in; the program's path, or None."""
        program = os.path.join(folder, self.name)
        command = list(self.link)
        command[self.output] = program
        command.insert(self.output + 1, mutant)
        return program if run(command, 600, cwd=built) == 0 else None

    def passes(self, program, limit):
        return run([program, *self.arguments], limit, **self.options) == 0


class Build:
    """A build folder, and the temporary one that mutants are made in."""

    def __init__(self, folder, names, scratch):
        self.folder = os.path.abspath(folder)
        self.scratch = scratch
        if run(["ninja", "-C", self.folder], 3600) != 0:
            sys.exit("mutate: the tree must build unchanged")
        info = pathlib.Path(folder, "meson-info", "intro-tests.json")
        records = {}
        for r in json.loads(info.read_text()):
            records[r["name"]] = r
            for suite in r["suite"]:
                records[suite.split(":")[-1] + "/" + r["name"]] = r
        missing = [name for name in names if name not in records]
        if missing:
            sys.exit(f"mutate: no test {', '.join(missing)} in {folder}")
        self.tests = [Test(records[name], self.folder) for name in names]
        self.last = self.found = None
        self.measured = False
        self.pool = concurrent.futures.ThreadPoolExecutor(JOBS)

    def compiler(self, path):
        """How the object in the archive that the tests link is compiled."""
        commands = pathlib.Path(self.folder, "compile_commands.json")
        for c in json.loads(commands.read_text()):
            source = (pathlib.Path(c["directory"]) / c["file"]).resolve()
            if (source == path.resolve()
                    and c["output"].split(".p/")[0] in self.tests[0].link):
                command = shlex.split(c["command"])
                break
        else:
            sys.exit(f"mutate: {path} is in no archive that the tests link")
        for option in "-MF", "-MQ":
            at = command.index(option)
            del command[at:at + 2]
        command.remove("-MD")
        self.source = os.path.join(self.scratch, path.name)
        self.object = self.source + ".o"
        command[command.index("-o") + 1] = self.object
        command[command.index("-c") + 1] = self.source
        return [*command, "-w", "-iquote", str(path.resolve().parent)]

    def compiles(self, command, text):
        pathlib.Path(self.source).write_text(text)
        return run(command, 60, cwd=self.folder) == 0

    def code(self):
        return pathlib.Path(self.object).read_bytes()

    def measure(self):
        """All must pass unchanged; a test's limit follows from its time."""
        for test in self.tests:
            program = test.build(self.scratch, self.folder, self.object)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            if not program or not test.passes(program, 600):
                sys.exit(f"mutate: {test.name} must pass unchanged")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            test.cpu = (after.ru_utime + after.ru_stime - before.ru_utime
                        - before.ru_stime)
        self.measured = True

    def order(self):
        return sorted(self.tests, key=lambda t: (
            t is not self.last, -(t.found + 1) / (t.cpu + 0.2)))

    def finds(self, test):
        """Whether this test fails; not asked once another has."""
        if self.found:
            return
        program = test.build(self.scratch, self.folder, self.object)
        if not program or not test.passes(program, 5 + 10 * test.cpu):
            self.found = self.found or test

    def judge(self, command, text, unchanged):
        if not self.compiles(command, text):
            return "no build"
        if self.code() == unchanged:
            return "same code"
        first, *others = self.order()
        self.found = None
        self.finds(first)  # where most end
        if not self.found:
            list(self.pool.map(self.finds, others))
        if not self.found:
            return "survived"
        self.found.found += 1
        self.last = self.found
        return "caught"


def mutate(build, path, args):
    """Counts by outcome; prints what survived."""
    source = path.read_text()
    chosen, total = choose(path, source, args)
    command = build.compiler(path)
    if not build.compiles(command, source):
        sys.exit(f"mutate: {path} must compile unchanged")
    unchanged = build.code()
    if not build.measured:
        build.measure()
    counts = collections.Counter()
    start = time.monotonic()
    try:
        for mutant in chosen:
            if args.seconds and time.monotonic() - start > args.seconds:
                break
            result = build.judge(command, mutant.text, unchanged)
            counts[result] += 1
            if result == "survived":
                print(mutant.name, flush=True)
    finally:  # a run that is stopped tells how far it came
        print(f"{path}: {sum(counts.values())} of {total} tried; "
              f"{told(counts)}; {time.monotonic() - start:.0f} s", flush=True)
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
                        help="names of meson tests, or SUITE/NAME where "
                             "several have the name")
    parser.add_argument("--build", default="build")
    parser.add_argument("--sample", type=int, default=0,
                        help="try this many of a file, chosen by --seed "
                             "(default: all)")
    parser.add_argument("--seconds", type=float, default=0,
                        help="go on to the next file after this long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=pathlib.Path,
                        help="try what lived in this report of an earlier run")
    parser.add_argument("--minimum", type=float, default=0,
                        help="fail below this percentage caught, of one file "
                             "or of all")
    args = parser.parse_args()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="mutate-") as scratch:
        build = Build(args.build, args.tests, scratch)
        all_counts = [mutate(build, path, args) for path in args.files]
    whole = sum(all_counts, collections.Counter())
    print(f"all: {told(whole)}")
    print("found by: " + ", ".join(f"{t.name} {t.found}" for t in sorted(
        build.tests, key=lambda t: -t.found)))
    if min(share(c) for c in [*all_counts, whole]) < args.minimum:
        sys.exit(1)


if __name__ == "__main__":
    main()
