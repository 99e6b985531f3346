#!/usr/bin/env python3
"""What pages show of the command is what it prints.

usage: page.py KMB SOURCE_DIR PAGE...

A block begins with "    $ kmb ..." and ends with the first line that is not
indented; "..." on a line of its own stands for lines that are left out.
"""
import os
import subprocess
import sys


def blocks(page):
    lines = iter(page.split('\n'))
    for line in lines:
        if not line.startswith('    $ kmb '):
            continue
        words, shown = line.split()[2:], []
        for line in lines:
            if line and not line.startswith('    '):
                break
            shown.append(line[4:])
        while shown and not shown[-1]:
            shown.pop()
        yield words, shown


def holds(shown, printed):
    """Parts between "..." must come in this order, each without a break."""
    parts, at = [[]], 0
    for line in shown:
        if line == '...':
            parts.append([])
        else:
            parts[-1].append(line)
    whole = len(parts) == 1
    for part in parts:
        starts = range(at, len(printed) - len(part) + 1)
        found = [i for i in starts if printed[i:i + len(part)] == part]
        if not found or (whole and part != printed):
            return False
        at = found[0] + len(part)
    return True


def main():
    kmb, root = os.path.abspath(sys.argv[1]), sys.argv[2]
    pages = sys.argv[3:]
    bad = seen = 0
    for page in pages:
        with open('%s/%s' % (root, page), encoding='utf-8') as file:
            text = file.read()
        for words, shown in blocks(text):
            seen += 1
            done = subprocess.run([kmb, *words], cwd=root, encoding='utf-8',
                                  capture_output=True, check=False)
            printed = done.stdout.rstrip('\n').split('\n')
            if done.returncode or not holds(shown, printed):
                print('%s: "kmb %s" prints something else:\n%s%s' % (
                    page, ' '.join(words), done.stdout, done.stderr))
                bad += 1
    print('%d blocks' % seen)
    return 1 if bad or seen < len(pages) else 0


if __name__ == '__main__':
    sys.exit(main())
