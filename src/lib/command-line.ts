/**
 * The command line by which a POSIX shell runs exactly these words, quoted if they need it. Every advised command that holds more
 * than constant words goes through here. Names of jobs, sources and runs need no quotes: the config allows no other characters in them.
 */
export function commandLine(...words: readonly (string | number)[]): string {
  return words.map((word) => shellWord(String(word))).join(' ');
}

/** Letters of any language mean nothing to a shell. */
function shellWord(word: string): string {
  return /^[\p{L}\p{N}_./@%+=:,-][\p{L}\p{N}_./@%+=:,~-]*$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
