#!/usr/bin/env python3
"""The change log names every exported function under the release that brought
it: what its "### ABI" sections add, less what they remove, is the version
script, and "@since" in the headers says the same.

usage: changelog.py CHANGELOG MAP INCLUDE_DIR/kmb | changelog.py --self-test
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..',
                                'scripts'))
import headers  # noqa: E402

RELEASE = re.compile(r'^## (\d+\.\d+)\.\d+\b.*$', re.M)
SECTION = re.compile(r'^### ABI$(.*?)(?=^##|\Z)', re.M | re.S)
ITEM = re.compile(r'^- (Added|Removed)\b(.*?)(?=^\S|\Z)', re.M | re.S)
NODE = re.compile(r'^KMB_(\d+\.\d+)\s*\{(.*?)\}', re.M | re.S)


def told(text):
    """{function: series} by the change log, the oldest release first."""
    marks = list(RELEASE.finditer(text))
    ends = [m.start() for m in marks[1:]] + [len(text)]
    found = {}
    for mark, end in reversed(list(zip(marks, ends))):
        section = SECTION.search(text, mark.end(), end)
        if not section:
            raise SystemExit('%s has no "### ABI" section' % mark.group(0))
        for what, item in ITEM.findall(section.group(1)):
            for name in re.findall(r'`(kmb_\w+)\(?\)?`', item):
                if what == 'Removed':
                    if name not in found:
                        raise SystemExit('%s: removed, never added' % name)
                    del found[name]
                elif name in found:
                    raise SystemExit('%s: added twice' % name)
                else:
                    found[name] = mark.group(1)
    return found


def mapped(text):
    return {name: series for series, body in NODE.findall(text)
            for name in re.findall(r'^\s*(kmb_\w+);', body, re.M)}


def since(functions):
    found = {}
    for function in functions:
        tag = re.search(r'@since (\d+\.\d+)', function.doc)
        found[function.name] = tag.group(1) if tag else 'no release'
    return found


def problems(log, symbols, tags):
    for name in sorted(set(log) | set(symbols)):
        if name not in log:
            yield ('%s is exported; say so in an "- Added" item of the change '
                   'log\'s "### ABI"' % name)
        elif name not in symbols:
            yield ('%s is not exported; the change log\'s "### ABI" needs a '
                   '"- Removed" item' % name)
        elif log[name] != symbols[name]:
            yield ('%s: %s in the change log, KMB_%s in the version script'
                   % (name, log[name], symbols[name]))
        if name in symbols and tags.get(name, symbols[name]) != symbols[name]:
            yield ('%s: @since %s, KMB_%s in the version script'
                   % (name, tags[name], symbols[name]))


def self_test():
    log = ('# Changelog\n\n## 0.2.0 (unreleased)\n\n### ABI\n\n'
           '- Added: `kmb_c()`,\n  `kmb_d`.\n- Removed: `kmb_a`.\n\n'
           '## 0.1.1\n\nA repair of `kmb_z`.\n\n### ABI\n\n- Nothing.\n\n'
           '## 0.1.0\n\n### ABI\n\n- Added: `kmb_a`, `kmb_b`.\n')
    have = told(log)
    assert have == {'kmb_b': '0.1', 'kmb_c': '0.2', 'kmb_d': '0.2'}, have
    good = mapped('KMB_0.1 {\nglobal:\n  kmb_b;\nlocal:\n  *;\n};\n'
                  'KMB_0.2 {\nglobal:\n  kmb_c;\n  kmb_d;\n} KMB_0.1;\n')
    assert good == have, good
    assert not list(problems(have, good, dict(good)))
    for changed in ({**good, 'kmb_e': '0.2'}, {**good, 'kmb_b': '0.2'},
                    {k: v for k, v in good.items() if k != 'kmb_d'}):
        assert len(list(problems(have, changed, {}))) == 1, changed
    assert len(list(problems(have, good, {'kmb_b': '0.2'}))) == 1
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'a.h'), 'w', encoding='utf-8') as file:
            file.write('/** A.\n *  @since 0.1 */\nKMB_API int kmb_b(void);\n')
        assert since(headers.functions(folder)) == {'kmb_b': '0.1'}


def main():
    if sys.argv[1:] == ['--self-test']:
        self_test()
        return 0
    texts = []
    for path in sys.argv[1:3]:
        with open(path, encoding='utf-8') as file:
            texts.append(file.read())
    symbols = mapped(texts[1])
    found = list(problems(told(texts[0]), symbols,
                          since(headers.functions(sys.argv[3]))))
    for problem in found:
        print(problem)
    print('%d functions' % len(symbols))
    return 1 if found or not symbols else 0


if __name__ == '__main__':
    sys.exit(main())
