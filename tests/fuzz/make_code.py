#!/usr/bin/env python3
"""Makes the seed corpora of what kmb code reads, from tests/data/code.

usage: make_code.py DATA FOLDER     (tests/data/code tests/fuzz/corpus)

What stands there already is replaced.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'tools'))
import amd_object  # noqa: E402, the path comes first


def cubins(data):
    tiny = (data / 'tiny.cubin').read_bytes()
    amd = amd_object.build()
    return {
        'ok-amd': amd,
        'ok-amd-dynamic': amd_object.build(
            names=('_Z3onePf',), machine=amd_object.GFX942, target='x',
            dynamic=True),
        'bad-amd-note': amd.replace(b'\xd9\x07.symbol', b'\xd9\xff.symbol'),
        'bad-amd-arch': amd_object.build(machine=0xee),
        'ok-tiny': tiny,
        'ok-older': (data / 'older.cubin').read_bytes(),
        'bad-cut': tiny[:3 * len(tiny) // 4],
        'bad-arch': tiny[:49] + b'\xd3' + tiny[50:],
        'bad-machine': tiny[:18] + b'\x3e' + tiny[19:],
        'bad-fat': b'\x50\xed\x55\xba\x01\0\x10\0',
        'bad-ptx': b'.version 9.0\n.target sm_90\n.visible .entry k() {}\n',
    }


def listings(data):
    parts = (data / 'kernels.sass').read_text().split('//---------')
    dot = next(p for p in parts if '.text.dot' in p)
    copies = (data / 'copies.cuobjdump').read_text()
    return {
        'ok-nvdisasm': dot.encode(),
        'ok-older': (data / 'older.sass').read_bytes(),
        'ok-cuobjdump': copies[:len(copies) // 2].encode(),
        'ok-matrix': (data / 'matrix.sass').read_bytes(),
        'ok-loops': b'Function : k\n/*0000*/ MOV R0, RZ ;\n.a:\n/*0010*/ '
                    b'LDG.E R2, [R4.64] ;\n/*0020*/ @P0 BRA 0x10 ;\n'
                    b'/*0030*/ BRA P1, `(.a) ;\n/*0040*/ EXIT ;\n',
        'ok-amd': (data / 'amd.objdump').read_bytes()[:6000],
        'ok-amd-loop': b'0000000000001000 <k>:\n\tv_nop // 000000001000: '
                       b'7E000000\n\ts_branch 65534 // 000000001004: BF82FFFE '
                       b'<k>\n\ts_nop 0 // 000000001008: BF800000\n',
        'bad-none': b'/*0000*/ LDG.E R0, [R2] ;\n',
    }


def main():
    data, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for kind, files in (('cubin', cubins(data)), ('listing', listings(data))):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for old in (folder / kind).iterdir():
            old.unlink()
        for name, content in files.items():
            (folder / kind / name).write_bytes(content)


if __name__ == '__main__':
    main()
