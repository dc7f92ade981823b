export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * Each shell's completion script. The script calls Sluice for suggestions, so the suggestions include the config's
 * current jobs and sources. Sluice prints one word per line, followed by a tab and the word's meaning. If there are no
 * words, the shell completes file names.
 */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: `_sluice() {
  local words
  COMPREPLY=()
  words=$(sluice completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "\${COMP_WORDS[COMP_CWORD]}" 2>/dev/null) || return
  [ -n "$words" ] && mapfile -t COMPREPLY < <(printf '%s\\n' "$words" | cut -f 1)
}
complete -o default -F _sluice sluice
`,
  zsh: `#compdef sluice
_sluice() {
  local -a lines
  lines=("\${(@f)$(sluice completion words -- "\${(@)words[2,CURRENT-1]}" "\${words[CURRENT]}" 2>/dev/null)}")
  lines=("\${(@)lines:#}")
  if (( \${#lines} )); then
    lines=("\${(@)lines//:/\\\\:}")
    lines=("\${(@)lines/$'\\t'/:}")
    _describe -t words words lines
  else
    _files
  fi
}
compdef _sluice sluice
`,
  fish: `function __sluice_words
  set -l words (commandline -opc)
  sluice completion words -- $words[2..-1] (commandline -ct | string collect --allow-empty) 2>/dev/null
end
complete -c sluice -f -n 'test -n "$(__sluice_words)"' -a '(__sluice_words)'
`,
};
