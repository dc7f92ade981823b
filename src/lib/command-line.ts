/**
 * Quotes words, if necessary, so that a POSIX shell passes them on unchanged. Use it for every suggested command with
 * variable words. Names of jobs, sources and runs don't need quotes, because the config restricts their characters.
 */
export function commandLine(...words: readonly (string | number)[]): string {
  return words.map((word) => shellWord(String(word))).join(' ');
}

/** Quotes a word for a shell if necessary. Letters of any language don't need quotes. */
function shellWord(word: string): string {
  return /^[\p{L}\p{N}_./@%+=:,-][\p{L}\p{N}_./@%+=:,~-]*$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
