"""The package as meson-python builds it, with and without the library."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

NEEDS = 'mesonpy'
PACKAGE = LIBRARY = ''
BUILD = '''
import mesonpy, sys
mesonpy.build_wheel(sys.argv[1], {'setup-args': sys.argv[2:]})
'''


def built(folder, *options):
    """Names in the wheel, which is unpacked into `folder`."""
    source, out = folder + '/source', folder + '/out'
    shutil.copytree(PACKAGE, source,
                    ignore=shutil.ignore_patterns('__pycache__'))
    os.mkdir(out)
    done = subprocess.run([sys.executable, '-c', BUILD, out] + list(options),
                          cwd=source, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    wheel, = os.listdir(out)
    with zipfile.ZipFile(os.path.join(out, wheel)) as file:
        file.extractall(folder + '/site')
        return wheel, {n for n in file.namelist() if '.dist-info/' not in n}


def imported(folder, **environment):
    kept = {k: v for k, v in os.environ.items()
            if k not in ('KMB_LIBRARY', 'LD_LIBRARY_PATH')}
    return subprocess.run(
        [sys.executable, '-c', 'import kmb, kmb.testing; r = kmb.bench('
         'lambda: None, max_samples=20, warmup_ms=0); print(r.name)'],
        env={**kept, 'PYTHONPATH': folder + '/site', **environment},
        capture_output=True, text=True, check=False)


class Wheel(unittest.TestCase):
    def test_without_the_library_it_is_for_every_machine(self):
        ours = {'kmb/' + n for n in os.listdir(PACKAGE + '/kmb')
                if n != '__pycache__'}
        with tempfile.TemporaryDirectory() as folder:
            wheel, names = built(folder)
            self.assertEqual(names, ours)
            self.assertIn('none-any', wheel)
            done = imported(folder, KMB_LIBRARY=LIBRARY)
            self.assertEqual(done.stdout.strip(), '<lambda>', done.stderr)

    def test_the_library_may_travel_along(self):
        with tempfile.TemporaryDirectory() as folder:
            wheel, names = built(folder, '-Dlibrary=' + LIBRARY)
            self.assertIn('kmb/libkmb.so.0', names)
            self.assertNotIn('none-any', wheel)
            done = imported(folder)
            self.assertEqual(done.stdout.strip(), '<lambda>', done.stderr)
