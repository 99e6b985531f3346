#!/usr/bin/env python3
"""Who may include whom, and how long a file may be.

usage: layers.py SOURCE_DIR | layers.py --self-test
"""
import os
import re
import sys
import tempfile

INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|import)\b[ \t]*(.*)$', re.M)
NAMED = re.compile(r'([<"])([^>"]+)[>"]')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
FOLDERS = ['include', 'lib', 'backends', 'tools', 'examples', 'tests', 'bench']
ENDINGS = ('.c', '.h', '.cc', '.cpp', '.hpp', '.cu', '.cuh')
LONGEST = 800
# Backends of the tests: like any outsider's, they see backend.h and their own
# folder.
OUTSIDERS = ('tests/plugin/sim', 'tests/plugin/bad', 'tests/plugin/example')
# Headers of vendors' SDKs: nothing that is installed needs one to build.
VENDORS = re.compile(r'^(cuda|cupti|nvml|nccl|rccl|hip/|hip_|roc|hsa/|mpi\.h$)')
# What only a program that includes CUDA, HIP or MPI itself may include.
ADAPTERS = ('kmb/cuda.h', 'kmb/hip.h', 'kmb/mpi.h', 'kmb/kmb.hpp')
# A backend has its table of services: a plugin is not linked with the library.
SERVED = re.compile(r'\bkmb_(last_error|status_name|status_text)\s*\(')
# Says a file that nobody reads from end to end.
WRITTEN = 'Written by scripts/'


def sources(root):
    for top in FOLDERS:
        for folder, _, files in os.walk(os.path.join(root, top)):
            for name in sorted(files):
                if name.endswith(ENDINGS):
                    yield os.path.relpath(os.path.join(folder, name), root)


def own_folder(path):
    """The folder whose headers the file may include."""
    for folder in OUTSIDERS:
        if path.startswith(folder + '/'):
            return folder
    parts = path.split('/')
    return '/'.join(parts[:2] if parts[0] == 'backends' else parts[:1])


def resolve(root, path, name):
    """The project's file that a quoted include means, or None."""
    near = os.path.normpath(os.path.join(os.path.dirname(path), name))
    return near if os.path.isfile(os.path.join(root, near)) else None


def public_fault(root, path, name):
    if not os.path.isfile(os.path.join(root, 'include', name)):
        return 'there is no public header'
    top = path.split('/')[0]
    if top in ('lib', 'backends') and name in ADAPTERS:
        return 'is for programs that include the vendor\'s own headers'
    if top in ('tools', 'examples', 'include') and name == 'kmb/backend.h':
        return 'is for backends alone'
    return None


def system_fault(path, name, inside):
    """Quotes or not, a header of the inside that an include path may find."""
    if name.split('/')[0] in FOLDERS:
        return 'a folder of the project is no system path'
    if name in inside:
        return 'is a header of the project: it goes by quotes and its path'
    if VENDORS.match(name) and not path.startswith('examples/'):
        return 'is of a vendor\'s SDK, which nothing may need'
    return None


def fault(root, path, quote, name, inside):
    top = path.split('/')[0]
    if name.startswith('kmb/'):
        return public_fault(root, path, name)
    target = resolve(root, path, name) if quote == '"' else None
    if top == 'bench' and target and not target.startswith('bench/'):
        return 'reaches into another part by its path'
    if top == 'bench' or (top == 'tests' and own_folder(path) == 'tests'):
        return None
    if quote == '<':
        return system_fault(path, name, inside)
    if top == 'include':
        return 'public headers include public headers by <kmb/...>'
    if not target:
        return 'is not beside it: only public headers and its own folder'
    own = own_folder(path)
    if not target.startswith(own + '/'):
        return 'belongs to another part of the project'
    return None


def inner_headers(root):
    """Names by which an include path would find a header of the inside."""
    return {os.path.basename(p) for p in sources(root) if p.endswith('.h')
            and p.split('/')[0] in ('lib', 'backends')}


def check(root):
    bad, seen = [], 0
    inside = inner_headers(root)
    for path in sources(root):
        seen += 1
        with open(os.path.join(root, path), encoding='utf-8') as file:
            text = file.read()
        lines = text.count('\n')
        if lines > LONGEST and WRITTEN not in text[:500]:
            bad.append('%s has %d lines, more than %d'
                       % (path, lines, LONGEST))
        for rest in INCLUDE.findall(COMMENT.sub('', text)):
            named = NAMED.match(rest)
            if not named:
                bad.append('%s includes %s: by a macro, which hides it'
                           % (path, rest))
                continue
            why = fault(root, path, named.group(1), named.group(2), inside)
            if why:
                bad.append('%s includes %s: %s' % (path, named.group(2), why))
        served = path.startswith('backends/') and SERVED.search(text)
        if served:
            bad.append('%s uses kmb_%s(): kmb_host has it'
                       % (path, served.group(1)))
    return bad, seen


TREE = {
    'include/kmb/a.h': '#include <stdint.h>\n',
    'include/kmb/backend.h': '#include <kmb/a.h>\n',
    'include/kmb/cuda.h': '#include <kmb/a.h>\n',
    'lib/b.h': '#include <kmb/a.h>\n',
    'lib/b.c': '#include "b.h"\n#include <error.h>\n',
    'backends/host/c.h': '#include <kmb/backend.h>\n',
    'backends/host/c.c': '#include "c.h"\n',
    'backends/other/d.h': '',
    'tools/kmb/e.c': '#include <kmb/a.h>\n',
    'examples/f.c': '#include <kmb/cuda.h>\n#include <cuda_runtime.h>\n',
    'bench/g.h': '',
    'bench/g.c': '#include "g.h"\n#include <b.h>\n',
    'tests/unit/h.c': '#include "b.h"\n#include <cuda.h>\n',
    'tests/plugin/sim/i.h': '#include <kmb/backend.h>\n',
    'tests/plugin/sim/i.c': '#include "i.h"\n',
}
VIOLATIONS = [
    ('lib/x.c', '#include "../backends/host/c.h"\n'),
    ('lib/x.c', '#include <c.h>\n'),
    ('lib/x.c', '#include <kmb/cuda.h>\n'),
    ('lib/x.c', '#include <kmb/none.h>\n'),
    ('lib/x.c', '#include <cuda.h>\n'),
    ('lib/x.c', '#include NAME\n'),
    ('lib/x.c', '/* so */ #include "../backends/host/c.h"\n'),
    ('lib/x.c', '\n' * (LONGEST + 1)),
    ('backends/host/x.c', '#include "../../lib/b.h"\n'),
    ('backends/host/x.c', '#include "b.h"\n'),
    ('backends/host/x.c', '#include <b.h>\n'),
    ('backends/host/x.c', '#include "../other/d.h"\n'),
    ('backends/host/x.c', '#include <cupti.h>\n'),
    ('backends/host/x.cu', '#include "../../lib/b.h"\n'),
    ('backends/host/x.c', 'f(kmb_last_error(0, 0));\n'),
    ('tools/kmb/x.c', '# include "../../lib/b.h"\n'),
    ('tools/kmb/x.c', '#include <lib/b.h>\n'),
    ('examples/x.c', '#include <b.h>\n'),
    ('examples/x.c', '#include <kmb/backend.h>\n'),
    ('include/kmb/x.h', '#include "a.h"\n'),
    ('include/kmb/x.hpp', '#include "a.h"\n'),
    ('include/kmb/x.h', '#include <cuda.h>\n'),
    ('include/kmb/x.h', '#include <kmb/backend.h>\n'),
    ('bench/x.c', '#include "../backends/host/c.h"\n'),
    ('bench/x.cc', '\n' * (LONGEST + 1)),
    ('tests/plugin/sim/x.c', '#include "../../../lib/b.h"\n'),
    ('tests/plugin/sim/x.c', '#include <b.h>\n'),
    ('tests/plugin/example/x.c', '#include "../sim/i.h"\n'),
    ('tests/plugin/bad/x.c', '#include "../harness.h"\n'),
]


def self_test():
    def bad(files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(text)
            return check(root)[0]

    assert not bad(TREE), bad(TREE)
    for path, text in VIOLATIONS:
        assert len(bad(dict(TREE, **{path: text}))) == 1, (path, text[:60])
    pins = '/* %sabi_pins.py. */' % WRITTEN + '\n' * (LONGEST + 1)
    assert not bad(dict(TREE, **{'tests/abi/x.c': pins}))
    print('%d violations tried' % len(VIOLATIONS))
    return 0


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    bad, seen = check(sys.argv[1])
    print('\n'.join(bad + ['%d files' % seen]))
    return 1 if bad or not seen else 0


if __name__ == '__main__':
    sys.exit(main())
