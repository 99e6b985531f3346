#!/usr/bin/env python3
"""Turns the tables of this folder into C, after checks that fail the build:
unknown columns, what is no number, a name or PCI id that two parts share, a
part without a source, an architecture without rates.

usage: make_tables.py PEAKS RATES REGIMES OUTPUT | make_tables.py --self-test
"""
import csv
import decimal
import io
import re
import sys

import pack_text

FIGURES = ['fp64', 'fp64_tensor', 'fp32', 'fp32_matrix', 'tf32', 'fp16',
           'bf16', 'fp8', 'fp6', 'fp4', 'int8']
PART_TEXTS = ['vendor', 'name', 'labels', 'driver_names', 'pci_ids', 'pci_rev',
              'arch', 'part', 'sparse', 'never_from_rates', 'source']
PART_NUMBERS = ['sms', 'boost_mhz', 'tensor_mhz', 'mem_gib', 'mem_bw_gbs',
                'l2_mib', 'llc_mib'] + FIGURES
# Columns whose names in C are not their own in capitals.
RENAMED = {'sms': 'UNITS', 'boost_mhz': 'BOOST_CLOCK',
           'tensor_mhz': 'TENSOR_CLOCK', 'mem_gib': 'MEMORY',
           'mem_bw_gbs': 'BANDWIDTH', 'l2_mib': 'L2', 'llc_mib': 'LLC'}
REGIME_COLUMNS = ['regime', 'hardware', 'operation', 'dtype', 'metric', 'value',
                  'unit', 'kind', 'source']
OPERATIONS = {'gemm': 'GEMM', 'attention': 'ATTENTION', 'copy': 'COPY',
              'any': 'OTHER'}
DTYPES = {'bf16': 'KMB_BF16', 'fp8': 'KMB_F8_E4M3', '': '0'}
METRICS = {'rate': 'COMPUTE', 'bandwidth': 'MEMORY'}
UNITS = {'PFLOP/s': 10**15, 'TFLOP/s': 10**12, 'TB/s': 10**12,
         'GB/s': 10**9}
KINDS = ['measured', 'measured by others', 'rough reference']
NUMBER = re.compile(r'\d+(\.\d+)?\Z')
PCI = re.compile(r'[0-9a-f]{4}:[0-9a-f]{4}\Z')
TAG = re.compile(r'\[(R|3|M|D)\b[^\]]*\]')


class Bad(Exception):
    """What is wrong with the tables, in words."""


def rows_of(name, text, columns):
    """Rows as dictionaries, with the line where each starts as 'line'."""
    reader = csv.reader(io.StringIO(text), strict=True)
    header = next(reader, [])
    if header != columns:
        raise Bad('%s: the columns must be %s' % (name, ','.join(columns)))
    rows, line = [], reader.line_num + 1
    for cells in reader:
        if len(cells) != len(header):
            raise Bad('%s:%d: %d cells instead of %d'
                      % (name, line, len(cells), len(header)))
        rows.append(dict(zip(header, cells), line='%s:%d' % (name, line)))
        line = reader.line_num + 1
    if not rows:
        raise Bad('%s: no rows' % name)
    return rows


def listed(cell):
    return cell.split('|') if cell else []


def check_number(row, column):
    text = row[column]
    if text and not (NUMBER.match(text) and float(text) > 0):
        raise Bad('%s: %s is "%s"; a positive number, or nothing'
                  % (row['line'], column, text))


def claim(taken, key, row, what):
    if key in taken:
        raise Bad('%s: the %s "%s" is also in %s'
                  % (row['line'], what, key, taken[key]))
    taken[key] = row['line']


def check_figure_list(row, column, extra):
    for name in listed(row[column]):
        if name not in FIGURES + extra:
            raise Bad('%s: %s names "%s", which is no figure'
                      % (row['line'], column, name))


def rate_key(row):
    return row['arch'] + ('g' if row['part'] == 'geforce' else '')


def check_parts(parts, rates):
    names, ids = {}, {}
    arches = {row['arch'] for row in rates}
    for row in parts:
        if not row['name'] or not row['driver_names'] or not row['pci_ids']:
            raise Bad('%s: name, driver_names and pci_ids are needed'
                      % row['line'])
        for name in set(listed(row['driver_names']) + [row['name']]):
            claim(names, name, row, 'name')
        for pci in listed(row['pci_ids']):
            if not PCI.match(pci):
                raise Bad('%s: "%s" is no PCI id' % (row['line'], pci))
            claim(ids, pci, row, 'PCI id')
        if not TAG.search(row['source']):
            raise Bad('%s: no tag [R], [3], [M] or [D] in its source'
                      % row['line'])
        if rate_key(row) not in arches:
            raise Bad('%s: no rates of %s' % (row['line'], rate_key(row)))
        for column in PART_NUMBERS:
            check_number(row, column)
        check_figure_list(row, 'sparse', [])
        check_figure_list(row, 'never_from_rates', ['all'])
        for name in listed(row['sparse']):
            if not row[name]:
                raise Bad('%s: sparse names %s, which has no figure'
                          % (row['line'], name))


def check_rates(rates):
    taken = {}
    for row in rates:
        claim(taken, row['arch'], row, 'architecture')
        for column in FIGURES:
            check_number(row, column)
        if not TAG.search(row['source']):
            raise Bad('%s: no tag [R], [3], [M] or [D] in its source'
                      % row['line'])


def check_regimes(regimes, parts):
    known = set()
    for row in parts:
        known.update(listed(row['labels']) + [row['name']])
    for row in regimes:
        for column, allowed in (('operation', OPERATIONS), ('dtype', DTYPES),
                                ('metric', METRICS), ('unit', UNITS),
                                ('kind', KINDS)):
            if row[column] not in allowed:
                raise Bad('%s: %s is "%s"' % (row['line'], column, row[column]))
        if row['hardware'] not in known:
            raise Bad('%s: no part is called or labelled "%s"'
                      % (row['line'], row['hardware']))
        check_number(row, 'value')
        if not row['value'] or not row['source'] or not row['regime']:
            raise Bad('%s: regime, value and source are needed' % row['line'])


def constant(column):
    return 'KMB_PART_' + RENAMED.get(column, column.upper())


def thousandths(row, column, unit=1):
    """A number as an integer, which a double holds exactly."""
    if not row[column]:
        return ''
    value = decimal.Decimal(row[column]) * unit * 1000
    if value != int(value) or value != int(float(value)):
        raise Bad('%s: %s is "%s"; at most three decimals, and 15 digits'
                  % (row['line'], column, row[column]))
    return str(int(value))


def part_cells(row):
    return [row[c] for c in PART_TEXTS] + \
        [thousandths(row, c) for c in PART_NUMBERS]


def rate_cells(row):
    return [row['arch'], row['source']] + [thousandths(row, c) for c in FIGURES]


def regime_cells(row):
    return [row['regime'], row['hardware'], row['kind'], row['source'],
            thousandths(row, 'value', UNITS[row['unit']])]


def cells_of(parts, rates, regimes):
    """All cells in the order in which they are read, each with its zero."""
    text = ''
    for row, cells in [(r, part_cells(r)) for r in parts] + \
            [(r, rate_cells(r)) for r in rates] + \
            [(r, regime_cells(r)) for r in regimes]:
        if not all(c.isascii() and '\0' not in c for c in cells):
            raise Bad('%s: not all of it is ASCII' % row['line'])
        text += ''.join(c + '\0' for c in cells)
    return text.encode('ascii')


def kind_c(row):
    return '  {KMB_BOUND_%s, KMB_OPERATION_%s, %s},\n' \
        % (METRICS[row['metric']], OPERATIONS[row['operation']],
           DTYPES[row['dtype']])


def columns_c(name, columns):
    return 'const unsigned char %s[] = {%s, 0};\n\n' \
        % (name, ', '.join(constant(c) for c in columns))


def room_c(kind, name, rows):
    return '%s %s[%d];\nconst size_t %s_count = %d;\n\n' \
        % (kind, name, len(rows), name, len(rows))


def tables(peaks_text, rates_text, regimes_text):
    parts = rows_of('peaks.csv', peaks_text,
                    PART_TEXTS[:8] + PART_NUMBERS + PART_TEXTS[8:])
    rates = rows_of('flops_per_clk.csv', rates_text,
                    ['arch'] + FIGURES + ['source'])
    regimes = rows_of('regimes.csv', regimes_text, REGIME_COLUMNS)
    check_rates(rates)
    check_parts(parts, rates)
    check_regimes(regimes, parts)
    cells = cells_of(parts, rates, regimes)
    return '/* Written by data/make_tables.py. */\n#include "peaks.h"\n\n' + \
        pack_text.array('kmbi_tables', pack_text.pack(cells)) + \
        'char kmbi_tables_text[%d];\n\n' % len(cells) + \
        columns_c('kmbi_part_texts', PART_TEXTS) + \
        columns_c('kmbi_part_numbers', PART_NUMBERS) + \
        columns_c('kmbi_rate_numbers', FIGURES) + \
        room_c('kmb_part', 'kmbi_parts', parts) + \
        room_c('kmbi_rate', 'kmbi_rates', rates) + \
        room_c('kmb_reference', 'kmbi_references', regimes) + \
        'const unsigned char kmbi_reference_kinds[][3] = {\n%s};\n' \
        % ''.join(map(kind_c, regimes))


def line(columns, **cells):
    return ','.join(cells.get(c, '') for c in columns) + '\n'


def self_test():
    columns = PART_TEXTS[:8] + PART_NUMBERS + PART_TEXTS[8:]
    rate_columns = ['arch'] + FIGURES + ['source']
    one = {'vendor': 'V', 'name': 'One', 'labels': 'L', 'driver_names': 'V One',
           'pci_ids': '10de:0001', 'arch': '9.0', 'bf16': '989.4',
           'sparse': 'bf16', 'source': 'sheet [R quoted]'}
    two = dict(one, name='Two', driver_names='V Two', pci_ids='10de:0002')
    rate = {'arch': '9.0', 'bf16': '4096', 'source': '[R] x'}
    regime = {'regime': 'bf16 GEMM', 'hardware': 'L', 'operation': 'gemm',
              'dtype': 'bf16', 'metric': 'rate', 'value': '2',
              'unit': 'PFLOP/s', 'kind': 'measured', 'source': 'them'}

    def build(parts=(one, two), rates=(rate,), regimes=(regime,), head=''):
        return tables(
            head + ','.join(columns) + '\n'
            + ''.join(line(columns, **p) for p in parts),
            ','.join(rate_columns) + '\n'
            + ''.join(line(rate_columns, **r) for r in rates),
            ','.join(REGIME_COLUMNS) + '\n'
            + ''.join(line(REGIME_COLUMNS, **r) for r in regimes))

    def refused(words, **tables_):
        try:
            build(**tables_)
        except Bad as bad:
            assert words in str(bad), (words, str(bad))
            return
        raise AssertionError('accepted: ' + words)

    text = build()
    assert 'KMB_BOUND_COMPUTE, KMB_OPERATION_GEMM, KMB_BF16}' in text
    row = {'line': '', 'x': '989.4', 'y': '2', 'z': ''}
    assert thousandths(row, 'x') == '989400' and thousandths(row, 'z') == ''
    assert thousandths(row, 'y', UNITS['PFLOP/s']) == '2' + 18 * '0'
    refused('not all of it is ASCII', parts=(dict(one, part='\u00d7'), two))
    refused('at most three decimals', parts=(dict(one, bf16='1.0001'), two))
    refused('peaks.csv:3: the name "V One" is also in peaks.csv:2',
            parts=(one, dict(two, driver_names='V One')))
    refused('the name "One"', parts=(one, dict(two, name='One')))
    refused('the name "One"', parts=(one, dict(two, driver_names='One')))
    refused('the PCI id "10de:0001"',
            parts=(one, dict(two, pci_ids='10de:0003|10de:0001')))
    refused('is no PCI id', parts=(dict(one, pci_ids='10DE:0001'),))
    refused('are needed', parts=(dict(one, pci_ids=''),))
    refused('bf16 is "-1"', parts=(dict(one, bf16='-1'),))
    refused('sms is "0"', parts=(dict(one, sms='0'),))
    refused('no tag', parts=(dict(one, source='sheet'),))
    refused('no rates of 9.0g', parts=(dict(one, part='geforce'),))
    refused('is no figure', parts=(dict(one, sparse='bf17'),))
    refused('has no figure', parts=(dict(one, sparse='fp8'),))
    refused('is no figure', parts=(dict(one, never_from_rates='everything'),))
    refused('the columns must be', head='x')
    refused('the architecture "9.0"', rates=(rate, rate))
    refused('no tag', rates=(dict(rate, source='x'),))
    refused('labelled "M"', regimes=(dict(regime, hardware='M'),))
    refused('unit is', regimes=(dict(regime, unit='FLOP'),))
    refused('are needed', regimes=(dict(regime, value=''),))
    refused('no rows', parts=())


def main():
    if sys.argv[1:] == ['--self-test']:
        self_test()
        return 0
    texts = []
    for path in sys.argv[1:4]:
        with open(path, encoding='utf-8', newline='') as file:
            texts.append(file.read())
    try:
        text = tables(*texts)
    except (Bad, csv.Error) as bad:
        print(bad, file=sys.stderr)
        return 1
    with open(sys.argv[4], 'w', encoding='utf-8') as file:
        file.write(text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
