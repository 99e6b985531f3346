#!/usr/bin/env python3
"""Packs text that repeats itself, for unpack.c of lib/ and of backends/cuda/:
as a program for headers of PTX, as a module for others.

The text is ASCII. A byte below 128 stands for itself. Another one, 128 + n,
repeats n + 3 bytes from further back: the byte behind it, d, says how far if
it is below 128 (d + 1), else with the next one (256 (d - 128) + next + 1).
Before all that stands the length of the text, three bytes, the lowest first.

usage: pack_text.py OUTPUT.c HEADER.ptx.h... | pack_text.py --self-test
"""
import random
import re
import sys

SHORTEST, LONGEST, NEAR, FAR = 3, 130, 128, 32768
TRIES = 64  # earlier places that are looked at


def found(text):
    """For each place the longest repetition: of any, and of a near one."""
    places, result = {}, []
    for i in range(len(text)):
        key, longest, near = text[i:i + SHORTEST], (0, 0), (0, 0)
        for j in reversed(places.get(key, [])[-TRIES:]):
            if i - j > FAR or longest[0] == LONGEST:
                break
            n = SHORTEST
            while n < LONGEST and i + n < len(text) and \
                    text[i + n] == text[j + n]:
                n += 1
            longest = max(longest, (n, j - i))
            if i - j <= NEAR:
                near = max(near, (n, j - i))
        if len(key) == SHORTEST:
            places.setdefault(key, []).append(i)
        result.append((longest, near))
    return result


def pack(text):
    """The shortest choice of repetitions among those that were found."""
    repeats = found(text)
    costs, steps = [0] * (len(text) + 1), [(1, 0)] * len(text)
    for i in reversed(range(len(text))):
        best, step = 1 + costs[i + 1], (1, 0)
        for (longest, back), price in zip(repeats[i], (3, 2)):
            for n in range(SHORTEST, longest + 1):
                cost = (price if -back > NEAR else 2) + costs[i + n]
                if cost < best:
                    best, step = cost, (n, -back)
        costs[i], steps[i] = best, step
    out, i = bytearray(len(text).to_bytes(3, 'little')), 0
    while i < len(text):
        n, back = steps[i]
        if back == 0:
            out.append(text[i])
        else:
            out += bytes([128 + n - SHORTEST])
            out += bytes([back - 1]) if back <= NEAR else \
                bytes([128 + (back - 1 >> 8), (back - 1) & 255])
        i += n
    return bytes(out)


def unpack(packed):
    size, at, out = int.from_bytes(packed[:3], 'little'), 3, bytearray()
    while len(out) < size:
        byte = packed[at]
        at += 1
        if byte < 128:
            out.append(byte)
            continue
        back = packed[at]
        at += 1
        if back >= 128:
            back = (back - 128) << 8 | packed[at]
            at += 1
        for _ in range(byte - 128 + SHORTEST):
            out.append(out[-back - 1])
    assert at == len(packed) and len(out) == size
    return bytes(out)


def text_of(header):
    """What the array's string literals say."""
    name = re.search(r'static const char (\w+)\[\] =', header).group(1)
    text = ''.join(re.findall(r'^  "(.*)"$', header, re.M))
    escapes = {r'\n': '\n', r'\"': '"', r'\\': '\\'}
    return name, re.sub(r'\\.', lambda m: escapes[m.group()],
                        text).encode('ascii')


def array(name, packed):
    rows = [', '.join(map(str, packed[i:i + 16]))
            for i in range(0, len(packed), 16)]
    return '/* %d bytes */\nconst unsigned char %s_packed[] = {\n  %s};\n' \
        % (len(packed), name, ',\n  '.join(rows))


def self_test():
    dice = random.Random(1)
    for letters in (b'a', b'ab', bytes(range(128))):
        for size in (0, 1, 2, 3, 4, 130, 131, 133, 134, 300):
            text = bytes(dice.choice(letters) for _ in range(size))
            assert unpack(pack(text)) == text
    far = bytes(dice.randrange(128) for _ in range(FAR + 1))
    for gap, price in ((NEAR, 2), (NEAR + 1, 3), (FAR, 3), (FAR + 1, 20)):
        text, once = far[:gap] + far[:20], pack(far[:gap])
        assert unpack(pack(text)) == text
        assert len(pack(text)) == len(once) + price, gap
    assert len(pack(b'a' * 1000)) < 30
    assert text_of('static const char x[] =\n  "a\\n"\n  "\\"b"\n  ;\n') == \
        ('x', b'a\n"b')


def main():
    if sys.argv[1:] == ['--self-test']:
        self_test()
        return 0
    out = '/* Written by data/pack_text.py. */\n'
    for path in sys.argv[2:]:
        with open(path, encoding='ascii') as file:
            name, text = text_of(file.read())
        packed = pack(text)
        assert unpack(packed) == text
        out += array(name, packed)
    with open(sys.argv[1], 'w', encoding='ascii') as file:
        file.write(out)
    return 0


if __name__ == '__main__':
    sys.exit(main())
