#!/usr/bin/env python3
"""The man page and the completions name each command and option, and the words
of kmb itself.

usage: words.py KMB MAN BASH ZSH
"""
import os
import re
import subprocess
import sys

KMB, MAN, BASH, ZSH = sys.argv[1:]


def run(*words):
    done = subprocess.run([KMB, *words], capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def commands():
    """Each command and its options, read apart from what writes completions."""
    found = {}
    for line in run('--help')[1].split('\n'):
        row = re.match(r'  (\w+(?: \w+)?)  +\S', line)
        if row:
            text = run(*row.group(1).split(), '--help')[1]
            found[row.group(1)] = {
                w.strip('[](),.;') for w in re.split(r'[\s|=]+', text)
                if re.match(r'\[*(--[a-z]|-o\b)', w)} - {'--'}
    return found


def every_command_has_help():
    found = commands()
    assert {'calibrate', 'compare', 'info', 'plot samples', 'report',
            'run'} <= set(found)
    for command, options in found.items():
        status, out, err = run(*command.split(), '--help')
        assert status == 0 and not err
        assert out.startswith('usage: kmb ' + command), command
        assert options, command


def every_help_is_of_one_manner():
    """How it is called, what it does, a row an option, what it ends with."""
    for command in [*commands(), 'plot']:
        text = run(*command.split(), '--help')[1]
        assert run(*command.split(), '-h')[1] == text
        parts = text.rstrip('\n').split('\n\n')
        # A list of words is one.
        assert all(len(l) <= 80 or '--collective' in l
                   for l in text.split('\n')), command
        assert parts[0].startswith('usage: kmb ' + command), command
        assert parts[-1].startswith('Exit status: 0 '), command
        if command == 'plot':
            assert re.findall(r'^  (plot \w+) ', parts[1], re.M) == [
                'plot roofline', 'plot samples', 'plot timeline']
            continue
        assert re.match('[A-Z][a-z]+s ', parts[1]), (command, parts[1])
        rows = set(re.findall(r'^  (--[a-z-]+|-o)', text, re.M))
        if command == 'work':
            assert rows == {'--json'}
            continue
        used = set(re.findall(r'(?<![\w-])(--[a-z-]+[a-z]|-o)(?![\w-])',
                              parts[0]))
        assert used - rows == set() and rows, (command, used ^ rows)
        if 'OPTION...' not in parts[0]:
            hidden = {'--disassembler', '--deadline', '--listing',
                      '--other-listing'} if command == 'code' else set()
            assert rows - used == hidden, (command, rows - used)


def a_kind_of_plot_is_asked_for():
    status, out, err = run('plot')
    assert status == 1 and not out and 'plot samples' in err
    status, out, err = run('plot', 'nothing')
    assert status == 1 and not out
    assert err == 'kmb plot: there is no kind "nothing"; see kmb plot --help\n'


def the_man_page_names_them():
    page = read(MAN).replace('\\-', '-').replace('\\fR', '').replace('\\fB', '')
    page = page.replace('.B ', '').replace('.BR ', '')
    found = commands()
    places = {}
    for command in found:
        at = re.search(r'^\.TP\n%s\b' % command, page, re.M)
        assert at, command
        places[command] = at.end()
    ends = sorted([*places.values(), page.index('.SH EXIT STATUS')])
    for command, options in found.items():
        begin = places[command]
        part = page[begin:next(e for e in ends if e > begin)]
        if command == 'work':
            # Its help lists them, as the page says.
            assert 'kmb work --help' in part
            continue
        for option in options - {'--help', '-o'}:
            assert option in part, (command, option)


def completions_name_them():
    for path in (BASH, ZSH):
        text = read(path)
        for command, options in commands().items():
            line = [l for l in text.split('\n') if
                    re.match(r'''  ["']%s["']\) options''' % command, l)]
            assert len(line) == 1, (path, command)
            named = set(re.findall(r'--?[a-z][a-z-]*', line[0]))
            assert options <= named, (path, command, options - named)


def complete(*words):
    script = ('source "$1"; shift; COMP_WORDS=("$@"); '
              'COMP_CWORD=$(($# - 1)); _kmb; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(['bash', '-c', script, 'bash', BASH, *words],
                          capture_output=True, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.decode().split()


def bash_completes():
    first = set(complete('kmb', ''))
    assert {c.split()[0] for c in commands()} <= first
    assert set(complete('kmb', 'com')) == {'compare'}
    assert set(complete('kmb', 'plot', '')) == {
        'roofline', 'samples', 'timeline', '--help'}
    assert complete('kmb', 'compare', '--th') == ['--threshold']
    assert complete('kmb', 'plot', 'samples', '--res') == ['--result']
    # Files are the shell's own.
    assert complete('kmb', 'compare', 'a') == []
    assert complete('kmb', 'nothing', '--') == []


def the_version_is_said():
    status, out, err = run('--version')
    assert status == 0 and not err and re.fullmatch(r'kmb \d+\.\d+\.\d+\n', out)


def wrong_commands_are_quiet_on_stdout():
    for words in ((), ('nothing',), ('plot',), ('compare',)):
        status, out, err = run(*words)
        assert status and not out and err, words


def main():
    for name, test in list(globals().items()):
        if callable(test) and getattr(test, '__module__', '') == '__main__' and \
                test not in (main, run, read, commands, complete):
            test()
            print('ok', name)
    assert os.path.getsize(ZSH) > 500


main()
