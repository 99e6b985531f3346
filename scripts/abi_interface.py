"""What the public headers declare, read after the C preprocessor: structs and
their members, constants, types, functions. Enough of C for these headers; what
it does not understand it refuses."""
import os
import re
import subprocess

ATTRIBUTE = re.compile(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)')
MARKER = re.compile(r'^# \d+ "([^"]*)"')
NAME = re.compile(r'^kmb_\w+$')


class Struct:
    """Members are (name, written-out type)."""

    def __init__(self, header, name, members):
        self.header, self.name, self.members = header, name, members
        self.grows = members[0] == ('struct_size', 'size_t')


class Interface:
    def __init__(self):
        self.structs = []    # Struct
        self.constants = []  # (header, name, value)
        self.types = []      # (header, name, written-out type), no structs
        self.functions = []  # (header, name, return type, parameters, named)
        self.inits = []      # (header, name, return type)

    def growing(self):
        return {s.name for s in self.structs if s.grows}

    def written_out(self, text):
        """A type without the library's own names for scalars and functions."""
        for _, name, meaning in self.types:
            text = re.sub(r'\b%s\b' % name, lambda _: meaning, text)
        return text


def split(text, mark=','):
    """Splits outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in '([{') - (c in ')]}')
        if c == mark and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def closing(text, start):
    """Index behind the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in '({') - (text[i] in ')}')
        if depth == 0:
            return i + 1
    raise SystemExit('a bracket is not closed: ' + text[start:start + 60])


def tidy(text):
    text = ' '.join(text.split())
    return re.sub(r'\*\s+(?=[*)]|$)', '*', text)


def function_type(result, inside):
    return '%s%s(*)(%s)' % (result, '' if result.endswith('*') else ' ',
                            inside)


def parameters(text):
    """Types of a parameter list."""
    inside = text.strip()
    if inside == 'void':
        return ['void']
    return [p if p == '...' else declarator(p)[1] for p in split(inside)]


def declarator(text):
    """(name, type) of one declaration; the name may be absent."""
    text = ' '.join(text.split())
    array = re.match(r'^([^(\[]+\w)\[(\d+)\]$', text)
    if array:
        name, kind = declarator(array.group(1))
        return name, '%s[%s]' % (kind, array.group(2))
    if '[' in text:
        raise SystemExit('this array is not understood: ' + text)
    pointer = re.match(r'^(?P<result>[^(]*)\(\s*\*\s*(?P<name>\w*)\s*\)\s*\(',
                       text)
    if pointer:
        end = closing(text, pointer.end() - 1)
        inside = ', '.join(parameters(text[pointer.end():end - 1]))
        return pointer.group('name'), function_type(
            tidy(pointer.group('result')), inside)
    words = re.match(r'^(?P<type>.*[\s*])(?P<name>\w+)$', text)
    if not words:
        return '', tidy(text)
    return words.group('name'), tidy(words.group('type').strip())


def members(body):
    found = []
    for line in split(body, ';')[:-1]:
        first, *others = split(line)
        name, kind = declarator(first)
        found.append((name, kind))
        if others and '*' in line:
            raise SystemExit('one pointer a line, please: ' + line)
        found += [(other, kind) for other in others]
    return found


def constants(body):
    for item in split(body):
        if item:
            name, expression = item.split('=')  # every value is written out
            number = re.sub(r'(?<=\d)[uUlL]+', '', expression)
            if not re.match(r'^[-\d\s()<x]+$', number):
                raise SystemExit('not a plain number: ' + item)
            # Digits, brackets, minus and shifts only.
            yield name.strip(), eval(number)  # pylint: disable=eval-used


def take(interface, header, statement):
    """One statement at file level, without its semicolon."""
    out = interface
    struct = re.match(r'^typedef struct (\w+)\s*\{(.*)\}\s*(\w+)$', statement,
                      re.S)
    if struct:
        out.structs.append(Struct(header, struct.group(3), [
            (n, out.written_out(t)) for n, t in members(struct.group(2))]))
    elif re.match(r'^typedef struct (\w+) \1$', statement):
        pass
    elif statement.startswith('typedef '):
        name, kind = declarator(statement[len('typedef '):])
        out.types.append((header, name, out.written_out(kind)))
    elif re.match(r'^enum\s*\{', statement):
        body = statement[statement.index('{') + 1:-1]
        out.constants += [(header, n, v) for n, v in constants(body)]
    else:
        function = re.match(r'^([^()]*[\s*])(kmb_\w+)\s*\((.*)\)$', statement,
                            re.S)
        if not function:
            raise SystemExit('%s: not understood: %s'
                             % (header, statement[:80]))
        result, name, inside = function.groups()
        out.functions.append((header, name, out.written_out(tidy(result)),
                              [out.written_out(p)
                               for p in parameters(inside)],
                              [tidy(p) for p in split(inside)]))


def statements(text):
    position = 0
    while text[position:].strip():
        start = position
        while text[position] not in ';{':
            position += 1
        if text[position] == '{':
            position = closing(text, position)
            if text[start:position].lstrip().startswith('static inline'):
                yield text[start:position].strip()
                continue
            while text[position] != ';':
                position += 1
        yield text[start:position].strip()
        position += 1


def preprocessed(include, compiler):
    """[(header, text)] in the order of inclusion."""
    source = '#include <kmb/kmb.h>\n#include <kmb/backend.h>\n'
    done = subprocess.run(compiler + ['-E', '-DKMB_STATIC', '-I', include, '-x',
                                      'c', '-'], input=source,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit('the headers do not compile:\n' + done.stderr)
    texts, here = {}, None
    folder = os.path.join(include, 'kmb') + os.sep
    for line in done.stdout.splitlines():
        marker = MARKER.match(line)
        if marker:
            path = marker.group(1)
            here = path[len(folder):] if path.startswith(folder) else None
        elif here:
            texts[here] = texts.get(here, '') + line + '\n'
    return [(h, ATTRIBUTE.sub(' ', t)) for h, t in texts.items()]


def read(include, compiler):
    interface = Interface()
    for header, text in preprocessed(include, compiler):
        for statement in statements(text):
            init = re.match(r'^static inline (\w+) (kmb_\w+)\(void\)',
                            statement)
            if init:
                interface.inits.append((header, init.group(2), init.group(1)))
            elif statement:
                take(interface, header, ' '.join(statement.split()))
    if not interface.structs or not interface.functions:
        raise SystemExit('%s: nothing was read' % include)
    return interface
