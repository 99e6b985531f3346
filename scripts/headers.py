"""The functions that the public headers declare, with their comments."""
import os
import re

# A comment, then a declaration that starts with KMB_API at a line's start.
DECLARED = re.compile(
    r'(?P<doc>/\*\*(?:(?!\*/).)*\*/\s*\n)?^KMB_API\s+(?P<code>[^;]*);',
    re.M | re.S)
NAME = re.compile(r'(\w+)\s*\(')


class Function:
    """One declaration: its name, whether it returns void, its parameters."""

    def __init__(self, header, doc, code):
        self.header = header
        self.doc = doc or ''
        code = ' '.join(code.split())
        match = NAME.search(code)
        self.name = match.group(1)
        result = code[:match.start()].strip()
        self.returns_void = result == 'void'
        self.returns_status = result == 'kmb_status'
        inside = code[match.end():code.rindex(')')].strip()
        self.parameters = []
        self.types = {}
        if inside and inside != 'void':
            for parameter in split_outside_brackets(inside):
                name = parameter_name(parameter)
                self.parameters.append(name)
                self.types[name] = parameter.strip()


def split_outside_brackets(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in '([') - (c in ')]')
        if c == ',' and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def parameter_name(text):
    pointer = re.search(r'\(\s*\*\s*(\w+)\s*\)', text)  # to a function
    if pointer:
        return pointer.group(1)
    return re.search(r'(\w+)\s*(\[[^]]*\]\s*)*$', text.strip()).group(1)


def functions_in(header, text):
    return [Function(header, m.group('doc'), m.group('code'))
            for m in DECLARED.finditer(text)]


def functions(folder):
    """All functions of the headers in `folder`, in the order of file names."""
    found = []
    for header in sorted(os.listdir(folder)):
        if header.endswith('.h'):
            with open(os.path.join(folder, header), encoding='utf-8') as file:
                text = file.read()
            here = functions_in(header, text)
            marks = len(re.findall(r'^KMB_API\b', text, re.M))
            if len(here) != marks:
                raise SystemExit('%s: %d functions marked KMB_API, %d read'
                                 % (header, marks, len(here)))
            found += here
    return found
