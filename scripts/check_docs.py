#!/usr/bin/env python3
"""Every public function says what it does, what it takes and gives, from
which threads it may be called, whether it blocks, and since when; and the guide
names every finding.

usage: check_docs.py INCLUDE_DIR/kmb GUIDE | check_docs.py --self-test
"""
import os
import re
import sys

import headers

ALWAYS = ['@thread', '@blocks', '@since']
# Tags of parameters may name several: "@param m, n, k".
PARAM = re.compile(r'@param(?:\[[a-z,]+\])?\s+(\w+(?:,\s*\w+)*)')


# Who owns what comes out, and how it ends.
OWNED = re.compile(r'\b(owned|free it|close it|ends? it|belongs? to|static '
                   r'string|kmb_\w+_(destroy|close|end)\(\))')
HANDED_OUT = re.compile(r'\b(?:const )?(?:char|void|kmb_\w+)\s*\*(?:\s*const)?'
                        r'\s*\*\s*\w+$')


def content_faults(function):
    """What depends on what the function takes and gives."""
    doc, found = function.doc, []
    if function.returns_status and not re.search(r'@retval\s+KMB_ERR', doc):
        found.append('names no error (@retval KMB_ERR_...)')
    numbers = [n for n, t in function.types.items()
               if re.match(r'(const )?double\b', t)]
    if numbers and '@units' not in doc:
        found.append('lacks @units for %s' % ', '.join(numbers))
    for name, kind in function.types.items():
        out = '@param[out] %s' % name in re.sub(r'\s+', ' ', doc)
        if out and HANDED_OUT.search(kind) and not OWNED.search(doc):
            found.append('does not say who owns %s' % name)
    return found


def faults(function):
    doc = function.doc
    if not doc:
        return ['has no comment of its own']
    found = []
    if not re.match(r'/\*\*\s*(::)?[A-Z]', doc):
        found.append('does not start with a sentence')
    for tag in ALWAYS:
        if not re.search(tag + r'[ \t]+(?!\*/)\S', doc):
            found.append('lacks %s or its text' % tag)
    if not function.returns_void and not re.search(r'@ret(urn|val)\s+\S', doc):
        found.append('lacks @return and @retval')
    named = [n for m in PARAM.finditer(doc)
             for n in re.split(r',\s*', m.group(1))]
    for name in function.parameters:
        if name not in named:
            found.append('lacks @param %s' % name)
    found += content_faults(function)
    for name in named:
        if name not in function.parameters:
            found.append('has @param %s, which it does not take' % name)
    return found


def check(functions):
    bad = 0
    for function in functions:
        for fault in faults(function):
            print('%s: %s %s' % (function.header, function.name, fault))
            bad += 1
    return bad


def unexplained(header, guide):
    """Findings of KMB_FINDING_MAP that the guide does not name; None if there
    is no such map."""
    found = re.search(r'#define KMB_FINDING_MAP\(X\)(.*?)\n\n', header, re.S)
    if not found:
        return None
    names = re.findall(r'X\((\w+),', found.group(1))
    return [n for n in names if '`%s`' % n not in guide]


GOOD = '''/** Adds.
 *  @param a, b  numbers
 *  @param ns  a time
 *  @param[out] text  the sum, owned by the library
 *  @param[out] sum  of both
 *  @retval KMB_ERR_INVALID  NULL
 *  @return KMB_OK
 *  @thread any
 *  @blocks no
 *  @units ns
 *  @since 0.1 */
KMB_API kmb_status kmb_add(int a, int b, double ns, const char **text,
                           void (*sum)(int x, int y));
'''


def self_test():
    """The check must accept a good comment and reject each that lacks
    something."""
    def rejected(text):
        return any(faults(f) for f in headers.functions_in('x.h', text))
    wrong = []
    if len(headers.functions_in('x.h', GOOD)) != 1 or rejected(GOOD):
        wrong.append('a good comment is rejected')
    lines = GOOD.splitlines(keepends=True)
    end = ' */\n'
    spoilt = {
        'first sentence': GOOD.replace('Adds.', '@brief'),
        'thread': GOOD.replace('@thread any', ''),
        'text of thread': GOOD.replace('@thread any', '@thread'),
        'blocks': GOOD.replace('@blocks no', ''),
        'since': GOOD.replace(' *  @since 0.1 */\n', end),
        'text of since': GOOD.replace('@since 0.1', '@since'),
        'return': ''.join(l for l in lines if '@ret' not in l),
        'parameter': GOOD.replace('@param a, b', '@param a'),
        'error': GOOD.replace('@retval KMB_ERR_INVALID  NULL', ''),
        'unit': GOOD.replace('@units ns', ''),
        'owner': GOOD.replace(', owned by the library', ''),
        'function pointer': GOOD.replace('@param[out] sum', ''),
        'parameter of another name': GOOD.replace('a, b', 'a, b, c'),
        'comment': GOOD[GOOD.index('KMB_API'):],
        'comment of its own': GOOD + '\n' + GOOD[GOOD.index('KMB_API'):],
        'comment apart': GOOD.replace(end + 'KMB', end + 'int x;\nKMB'),
    }
    for name, text in spoilt.items():
        if text == GOOD or not rejected(text):
            wrong.append('a lacking %s is accepted' % name)
    header = '#define KMB_FINDING_MAP(X) \\\n  X(A, 1) \\\n  X(B, 2)\n\n'
    if unexplained(header, '`A` `B`') != [] or \
            unexplained(header, '`A` B') != ['B'] or \
            unexplained('', '`A`') is not None:
        wrong.append('findings are not compared with the guide')
    for line in wrong:
        print('check_docs.py: ' + line)
    print('%d spoilt comments tried' % len(spoilt))
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    found = headers.functions(sys.argv[1])
    print('%d functions' % len(found))
    bad = check(found)
    with open(os.path.join(sys.argv[1], 'result.h'), encoding='utf-8') as file:
        header = file.read()
    with open(sys.argv[2], encoding='utf-8') as file:
        missing = unexplained(header, file.read())
    if missing is None:
        print('result.h: no KMB_FINDING_MAP')
    for name in missing or []:
        print('%s does not explain the finding %s' % (sys.argv[2], name))
    return 1 if bad or missing or missing is None or not found else 0


if __name__ == '__main__':
    sys.exit(main())
