"""Code objects for AMD GPUs, as small as they can be: what LLVM writes, and what
nobody should."""
import struct

NOTE_METADATA = 32
GFX90A, GFX942 = 0x3f, 0x4c
# s_nop, s_nop, s_endpgm
CODE = bytes.fromhex('000080bf' '000080bf' '000081bf')


def packed(value):
    """MessagePack."""
    if isinstance(value, bool):
        return b'\xc3' if value else b'\xc2'
    if isinstance(value, int):
        return bytes([value]) if value < 0x80 else b'\xce' + struct.pack(
            '>I', value)
    if isinstance(value, str):
        text = value.encode()
        return bytes([0xd9, len(text)]) + text
    if isinstance(value, list):
        return b'\xdc' + struct.pack('>H', len(value)) + b''.join(
            map(packed, value))
    return b'\xde' + struct.pack('>H', len(value)) + b''.join(
        packed(k) + packed(v) for k, v in value.items())


def metadata(names, target, **more):
    kernels = [{'.name': name, '.symbol': name + '.kd', '.args': [
        {'.offset': 0, '.size': 8, '.is_const': True}], '.vgpr_count': 24 + i,
        '.agpr_count': 4, '.sgpr_count': 14, '.vgpr_spill_count': 18 * i,
        '.sgpr_spill_count': 2 * i, '.max_flat_workgroup_size': 256,
        '.wavefront_size': 64, '.private_segment_fixed_size': 68 * i, **more}
        for i, name in enumerate(names)]
    return packed({'amdhsa.kernels': kernels, 'amdhsa.target': target,
                   'amdhsa.version': [1, 1]})


def note(content):
    def pad(data):
        return data + b'\0' * (-len(data) % 4)
    return struct.pack('<III', 7, len(content), NOTE_METADATA) + pad(
        b'AMDGPU\0') + pad(content)


class Strings:
    def __init__(self):
        self.bytes = b'\0'

    def add(self, text):
        at = len(self.bytes)
        self.bytes += text.encode() + b'\0'
        return at


def build(names=('first', 'second'), machine=GFX90A,
          target='amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-', notes=None,
          functions=True, descriptor=64, abi=64, dynamic=False,
          overlap=False):
    """An object with these kernels; `notes` stands in place of its note. With
    `overlap` each kernel claims all code from the first one's on."""
    strings, sections = Strings(), Strings()
    text, rodata, symbols = b'', b'', bytes(24)
    for i, name in enumerate(names):
        if functions:
            start = 0 if overlap else len(text)
            symbols += struct.pack('<IBBHQQ', strings.add(name), 0x12, 3, 2,
                                   0x1000 + start,
                                   len(text) - start + len(CODE))
        symbols += struct.pack('<IBBHQQ', strings.add(name + '.kd'), 0x11, 3,
                               3, 0x800 + len(rodata), descriptor)
        rodata += struct.pack('<II', 1024 * (i + 1), 68 * i) + bytes(56)
        text += CODE + bytes.fromhex('000080bf')
    if notes is None:
        notes = note(metadata(names, target))
    parts = [('.note', 7, notes, 0, 0), ('.text', 1, text, 0x1000, 0),
             ('.rodata', 1, rodata, 0x800, 0),
             ('.dynsym' if dynamic else '.symtab', 11 if dynamic else 2,
              symbols, 0, 24), ('.strtab', 3, strings.bytes, 0, 0),
             ('.shstrtab', 3, None, 0, 0)]
    named = [sections.add(part[0]) for part in parts]
    body, headers = b'', bytes(64)
    for at, (_, kind, content, address, size) in zip(named, parts):
        content = sections.bytes if content is None else content
        body += b'\0' * (-len(body) % 8)
        headers += struct.pack('<IIQQQQIIQQ', at, kind, 0, address,
                               64 + len(body), len(content),
                               5 if size else 0, 1, 8, size)
        body += content
    body += b'\0' * (-len(body) % 8)
    head = struct.pack('<4sBBBBB7xHHIQQQIHHHHHH', b'\x7fELF', 2, 1, 1, abi, 2,
                       3, 224, 1, 0, 0, 64 + len(body), machine, 64, 56, 0, 64,
                       1 + len(parts), len(parts))
    return head + body + headers
