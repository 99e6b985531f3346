#!/usr/bin/env python3
"""Who may include whom, and how long a file may be.

usage: layers.py SOURCE_DIR | layers.py --self-test
"""
import os
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
FOLDERS = ['include', 'lib', 'backends', 'tools', 'examples', 'tests', 'bench']
LONGEST = 800
# Says a file that nobody reads from end to end.
WRITTEN = 'Written by scripts/'


def sources(root):
    for top in FOLDERS:
        for folder, _, files in os.walk(os.path.join(root, top)):
            for name in sorted(files):
                if name.endswith(('.c', '.h')):
                    yield os.path.relpath(os.path.join(folder, name), root)


def resolve(root, path, name):
    """The project's file that a quoted include means, or None."""
    near = os.path.normpath(os.path.join(os.path.dirname(path), name))
    if os.path.isfile(os.path.join(root, near)):
        return near
    return None


def fault(root, path, quote, name):
    parts = path.split(os.sep)
    top = parts[0]
    public = name.startswith('kmb/')
    if public and not os.path.isfile(os.path.join(root, 'include', name)):
        return 'there is no public header'
    if public or top in ('tests', 'bench'):
        return None
    if quote == '<':
        # A system header; the project's own folders are no include path.
        if name.split('/')[0] in FOLDERS:
            return 'a folder of the project is no system path'
        return None
    if top == 'include':
        return 'public headers include public headers by <kmb/...>'
    target = resolve(root, path, name)
    if not target:
        return 'is not beside it: only public headers and its own folder'
    own = 2 if top == 'backends' else 1
    if target.split(os.sep)[:own] != parts[:own]:
        return 'belongs to another part of the project'
    return None


def check(root):
    bad, seen = [], 0
    for path in sources(root):
        seen += 1
        with open(os.path.join(root, path), encoding='utf-8') as file:
            text = file.read()
        lines = text.count('\n')
        if lines > LONGEST and WRITTEN not in text[:500]:
            bad.append('%s has %d lines, more than %d'
                       % (path, lines, LONGEST))
        for quote, name in INCLUDE.findall(text):
            why = fault(root, path, quote, name)
            if why:
                bad.append('%s includes %s: %s' % (path, name, why))
    return bad, seen


def self_test():
    def bad(files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(text)
            return len(check(root)[0])

    tree = {'include/kmb/a.h': '#include <stdint.h>\n',
            'lib/b.h': '#include <kmb/a.h>\n', 'lib/b.c': '#include "b.h"\n',
            'backends/host/c.h': '', 'backends/host/c.c': '#include "c.h"\n',
            'backends/other/d.h': '', 'tools/kmb/e.c': '#include <kmb/a.h>\n'}
    assert bad(tree) == 0
    for path, text in (('lib/x.c', '#include "../backends/host/c.h"\n'),
                       ('backends/host/x.c', '#include "../../lib/b.h"\n'),
                       ('backends/host/x.c', '#include "b.h"\n'),
                       ('backends/host/x.c', '#include "../other/d.h"\n'),
                       ('tools/kmb/x.c', '# include "../../lib/b.h"\n'),
                       ('tools/kmb/x.c', '#include <lib/b.h>\n'),
                       ('include/kmb/x.h', '#include "a.h"\n'),
                       ('lib/x.c', '#include <kmb/none.h>\n'),
                       ('lib/x.c', '\n' * (LONGEST + 1))):
        assert bad(dict(tree, **{path: text})) == 1, (path, text[:60])
    pins = '/* %sabi_pins.py. */' % WRITTEN + '\n' * (LONGEST + 1)
    assert bad(dict(tree, **{'tests/abi/x.c': pins})) == 0
    return 0


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    bad, seen = check(sys.argv[1])
    print('\n'.join(bad + ['%d files' % seen]))
    return 1 if bad or not seen else 0


if __name__ == '__main__':
    sys.exit(main())
