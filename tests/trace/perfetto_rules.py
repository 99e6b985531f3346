"""Reads Chrome JSON by Perfetto's rules, as far as files of libkmb reach them.

Each rule names where it stands in github.com/google/perfetto; folders are below
src/trace_processor/. A file that cannot be read raises Refused; what Perfetto
keeps is in `slices`, `flows`, `names`; what it counts as lost or wrong is in
`stats`, by Perfetto's own name for it."""
import collections
import json
import math

# importers/common/slice_tracker.h: kMaxDepth.
MOST_DEPTH = 512
Slice = collections.namedtuple(
    'Slice', 'track name category start end depth args number')


class Refused(Exception):
    pass


class Reading:
    def __init__(self, data):
        self.slices, self.flows, self.names = [], [], {}
        self.stats, self.named = collections.Counter(), collections.Counter()
        self.begun = 0  # arrows
        self.top = {}
        self.read(data)

    # importers/json/json_trace_tokenizer.cc: a value of the top level that is
    # not known is passed over; "traceEvents" has to be a list, and the file has
    # to end behind the object.
    def read(self, data):
        strings_end(data)
        # Escapes of UTF-16 halves are an error, so no file may hold one:
        # importers/json/json_parser.h, UnescapeString().
        text = data.decode()
        try:
            whole = json.loads(text, object_pairs_hook=once,
                               parse_constant=no_number)
        except ValueError as e:
            raise Refused(str(e)) from e
        if not isinstance(whole, dict):
            whole = {'traceEvents': whole}
        events = whole.pop('traceEvents', None)
        if not isinstance(events, list):
            raise Refused('traceEvents is not an array')
        self.top = whole
        rows = []
        for number, event in enumerate(events):
            row = self.token(number, event)
            if row:
                rows.append(row)
        # sorter/trace_sorter.h: by time, as they came; complete events of one
        # time the longer first.
        rows.sort(key=lambda r: (r[0], -r[1]))
        self.place([r[2] for r in rows])

    # ParseTraceEventContents(): what becomes of one event.
    def token(self, number, event):
        phase = event.get('ph')
        if not isinstance(phase, str) or not phase:
            self.stats['json_tokenizer_failure'] += 1
            return None
        start = ns(event.get('ts'))
        if start is None and phase[0] != 'M':
            self.stats['json_tokenizer_failure'] += 1
            return None
        start = start or 0
        if start < 0:  # sorter/trace_sorter.h
            self.stats['trace_sorter_negative_timestamp_dropped'] += 1
            return None
        pid, tid = id_of(event.get('pid')), id_of(event.get('tid'))
        if tid == 0 and pid != 0:
            tid = pid
        length = ns(event.get('dur'))
        return start, length or 0, (number, event, phase[0], (pid, tid), start,
                                    length)

    def place(self, rows):
        stacks, starts = collections.defaultdict(list), {}
        for number, event, phase, track, start, length in rows:
            if phase == 'M':
                self.meta(event, track)
            elif phase == 'X':
                self.slice(stacks[track], starts, number, event, track, start,
                           length)
            else:
                raise Refused(f'phase {phase}: libkmb writes none of it')
        self.begun = len(starts)

    # importers/json/json_trace_parser.cc, case 'M'.
    def meta(self, event, track):
        name = event.get('args', {}).get('name')
        if isinstance(name, str) and name:
            if event.get('name') == 'thread_name':
                self.names[track] = name
                self.named[track] += 1
            elif event.get('name') == 'process_name':
                self.names[track[0]] = name

    # … case 'X', and importers/common/slice_tracker.cc, MaybeCloseStack().
    def slice(self, stack, starts, number, event, track, start, length):
        if length is None:
            self.stats['json_parser_failure'] += 1
            return
        if length < 0:
            self.stats['slice_negative_duration'] += 1
            return
        while stack:
            end = stack[-1].end
            instants = stack[-1].start == end and length == 0
            if end < start or (end == start and not instants):
                stack.pop()
            else:
                break
        if any(start < s.end < start + length for s in stack):
            self.stats['slice_drop_overlapping_complete_event'] += 1
            return
        if len(stack) >= MOST_DEPTH:
            self.stats['slice_max_depth_exceeded'] += 1
            return
        self.check_args(event)
        made = Slice(track, event.get('name') or '[No name]',
                     event.get('cat', ''), start, start + length, len(stack),
                     event.get('args', {}), number)
        stack.append(made)
        self.slices.append(made)
        self.flow(event, made, starts)

    # importers/json/json_parser.h, ParseNumber(): whole numbers of more than 63
    # bits become doubles and lose digits; so do those of UIs above 2**53.
    def check_args(self, event):
        for value in event.get('args', {}).values():
            if isinstance(value, int) and value > 2**53:
                self.stats['args_lose_digits'] += 1

    # MaybeAddFlow(), and importers/common/flow_tracker.cc: an arrow begins and
    # ends at the slice that carries it, and its beginning is seen first.
    def flow(self, event, made, starts):
        bind = event.get('bind_id')
        if bind is None:
            return
        out, into = event.get('flow_out'), event.get('flow_in')
        if out is not True and into is not True:
            self.stats['flow_without_direction'] += 1
        elif into is True and bind not in starts:
            self.stats['flow_end_without_start'] += 1
        elif into is True:
            self.flows.append((starts[bind], made))
        elif bind in starts:
            self.stats['flow_duplicate_id'] += 1
        if out is True and bind not in starts:
            starts[bind] = made


def once(pairs):
    keys = dict(pairs)
    if len(keys) != len(pairs):
        raise Refused('a key stands twice')
    return keys


def no_number(text):
    raise Refused(f'{text} is no number')


# CoerceToTs() of importers/json/json_trace_tokenizer.cc: llround(). Times that
# are strings would be taken too, but only by Perfetto.
def ns(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, int):
        return value * 1000
    scaled = abs(float(value) * 1000.0)
    whole = math.floor(scaled)
    whole += scaled - whole >= 0.5
    return whole if value >= 0 else -whole


# CoerceToUint32(): what does not fit is 0.
def id_of(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 0 <= value < 2**32 else 0


def strings_end(data):
    """ScanString(): a string ends at a quote that does not follow a backslash,
    whatever stands before that; importers/json/json_parser.h. The file is read
    wrongly if that is not where the string ends."""
    at = data.find(b'"')
    while at >= 0:
        end = at + 1
        while data[end:end + 1] != b'"':
            if data[end:end + 1] == b'':
                raise Refused('the file ends within a string')
            if data[end] < 0x20:
                raise Refused('a control character in a string')
            end += 2 if data[end] == 0x5C else 1
        scanned = data.find(b'"', at + 1)
        while scanned >= 0 and data[scanned - 1] == 0x5C:
            scanned = data.find(b'"', scanned + 1)
        if scanned != end:
            raise Refused(f'the string at byte {at} does not end where it '
                          'should')
        if b'\\ud' in data[at:end].lower():
            raise Refused(f'half a UTF-16 pair in the string at byte {at}')
        at = data.find(b'"', end + 1)
