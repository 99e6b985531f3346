#!/usr/bin/env python3
"""Mutation test of one C file: change one operator or constant at a time,
rebuild, run the named meson tests, and list the changes that no test saw.

  scripts/mutate.py lib/stats.c stats stats_interval stats_look
                    [--build DIR] [--sample N] [--seed S]
                    [--timeout SECONDS] [--minimum PERCENT]

The file is edited in place and always put back. A change that does not compile
counts neither way.
"""

import argparse
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys

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


def numbers(text):
    """Neighbours of a literal, its suffix kept."""
    match = re.fullmatch(r"(\d+)([uUlL]*)", text)
    if match:
        value = int(match.group(1))
        return [f"{value + 1}{match.group(2)}"] + (
            [f"{value - 1}{match.group(2)}"] if value else [])
    match = re.fullmatch(r"\d*\.\d+|\d+\.\d*", text)
    return [repr(float(text) * 1.5 + 0.1)] if match else []


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


def run(command, cpu):
    """Exit status, or None when it ran past ten times the limit of CPU time,
    which holds for each process: on a busy machine only the clock runs fast."""
    try:
        return subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=10 * cpu, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_CPU, (int(cpu), int(cpu)))).returncode
    except subprocess.TimeoutExpired:
        return None


def outcome(build, targets, tests, timeout):
    if run(["ninja", "-C", build, "-j2", *targets], 600) != 0:
        return "no build"
    command = ["meson", "test", "-C", build, "--no-rebuild", "--maxfail", "1",
               "--timeout-multiplier", "10", *tests]
    return "survived" if run(command, timeout) == 0 else "caught"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("tests", nargs="+", help="names of meson tests")
    parser.add_argument("--build", default="build")
    parser.add_argument("--targets", nargs="*", default=[],
                        help="what ninja builds (default: all)")
    parser.add_argument("--sample", type=int, default=0,
                        help="try this many, chosen by --seed (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60,
                        help="seconds of CPU time a test may take")
    parser.add_argument("--minimum", type=float, default=0,
                        help="fail below this percentage caught")
    args = parser.parse_args()

    source = args.file.read_text()
    chosen = list(mutants(source))
    if args.sample and args.sample < len(chosen):
        chosen = sorted(random.Random(args.seed).sample(chosen, args.sample))
    if outcome(args.build, args.targets, args.tests,
               args.timeout) != "survived":
        sys.exit("mutate: the tests must build and pass unchanged")
    counts = {"caught": 0, "survived": 0, "no build": 0}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lines = source.split("\n")
    try:
        for start, end, new in chosen:
            args.file.write_text(source[:start] + new + source[end:])
            result = outcome(args.build, args.targets, args.tests,
                             args.timeout)
            counts[result] += 1
            if result == "survived":
                line = line_of(source, start)
                print(f"{args.file}:{line}: {source[start:end]!r} -> {new!r}: "
                      f"{lines[line - 1].strip()}", flush=True)
    finally:
        args.file.write_text(source)
        run(["ninja", "-C", args.build, "-j2", *args.targets], 600)
    judged = counts["caught"] + counts["survived"]
    share = 100 * counts["caught"] / judged if judged else 0
    print(f"{counts['caught']} of {judged} caught ({share:.0f}%), "
          f"{counts['no build']} did not build")
    if share < args.minimum:
        sys.exit(1)


if __name__ == "__main__":
    main()
