#!/usr/bin/env python3
"""Writes kmb's completion for a shell, from what its own help says.

usage: completion.py bash|zsh KMB > FILE
"""
import re
import subprocess
import sys


def help_of(kmb, *words):
    return subprocess.run([kmb, *words, '--help'], check=True, text=True,
                          encoding='utf-8', stdout=subprocess.PIPE).stdout


def commands(kmb):
    """Each command's words, summary and options."""
    found = []
    for line in help_of(kmb).split('\n'):
        row = re.match(r'  ([a-z]+(?: [a-z]+)?) {2,}(.*)', line)
        if not row:
            continue
        words = row.group(1).split()
        text = help_of(kmb, *words)
        options = sorted(set(re.findall(
            r'(?<![\w-])(--[a-z][a-z-]*|-o)(?![\w-])', text)))
        found.append((words, row.group(2), options + ['--help']
                      if '--help' not in options else options))
    return found


def tree(rows):
    """First words, and what may follow each."""
    first = {}
    for words, _, _ in rows:
        first.setdefault(words[0], []).extend(words[1:])
    return first


BASH = '''# bash completion of kmb, written from its help.
_kmb() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} options=
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "%s --help --version" -- "$word")
    return
  fi
  case $command in
%s  esac
  case $command in
%s  esac
  COMPREPLY=()
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  fi
}
# What is no option is a file.
complete -o bashdefault -o default -F _kmb kmb
'''


def bash(rows):
    follow, options = '', ''
    for word, more in tree(rows).items():
        if more:
            follow += '''  %s)
    if [ "$COMP_CWORD" -eq 2 ]; then
      mapfile -t COMPREPLY < <(compgen -W "%s --help" -- "$word")
      return
    fi
    command="$command ${COMP_WORDS[2]}"
    ;;
''' % (word, ' '.join(more))
    for words, _, choices in rows:
        options += '  "%s") options="%s" ;;\n' % (' '.join(words),
                                                  ' '.join(choices))
    return BASH % (' '.join(tree(rows)), follow, options)


ZSH = '''#compdef kmb
# zsh completion of kmb, written from its help.
_kmb() {
  local -a commands follow options
  local command=$words[2]
  commands=(
%s    --help --version
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case $command in
%s  esac
  case $command in
%s  esac
  if [[ $words[CURRENT] == -* ]]; then
    compadd -- $options
  else
    _files
  fi
}
_kmb "$@"
'''


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(rows):
    listed, follow, options = '', '', ''
    summaries = {words[0]: summary for words, summary, _ in rows}
    for word, more in tree(rows).items():
        summary = ' or '.join(more) if more else summaries[word]
        listed += '    %s\n' % quoted('%s:%s' % (word,
                                                 summary.replace(':', '\\:')))
        if more:
            follow += '''  %s)
    if (( CURRENT == 3 )); then
      follow=(%s)
      compadd -- $follow --help
      return
    fi
    command="$command $words[3]"
    ;;
''' % (word, ' '.join(more))
    for words, _, choices in rows:
        options += "  '%s') options=(%s) ;;\n" % (' '.join(words),
                                                  ' '.join(choices))
    return ZSH % (listed, follow, options)


def main():
    shell, kmb = sys.argv[1:]
    sys.stdout.write((bash if shell == 'bash' else zsh)(commands(kmb)))


if __name__ == '__main__':
    main()
