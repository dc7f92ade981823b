/**
 * The known word that the user most likely meant, or undefined if none is close. Allows one insertion, deletion,
 * replacement or transposition per three characters, and at least one.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: { word: string; slips: number } | undefined;
  const wanted = plain(word);
  for (const candidate of known) {
    const slips = slipsBetween(wanted, plain(candidate));
    if (slips > Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3))) continue;
    if (isOtherShortWord(wanted, plain(candidate))) continue;
    if (best === undefined || slips < best.slips) best = { word: candidate, slips };
  }
  return best?.word;
}

/** Advice that suggests the {@link nearest} word; undefined if none is close. */
export function didYouMean(word: string, known: Iterable<string>): string | undefined {
  const meant = nearest(word, known);
  return meant === undefined ? undefined : `did you mean "${meant}"?`;
}

/**
 * Whether two short words are different words and not typos: in a word of up to three letters, a replaced letter makes
 * a different word, as with `ssl` and `ssh`.
 */
function isOtherShortWord(a: string, b: string): boolean {
  if (a.length > 3 || a.length !== b.length || a === b) return false;
  return [...a].sort().join() !== [...b].sort().join();
}

/** Treats the camelCase, kebab-case and snake_case spellings of a name as equal. */
function plain(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}

/** The optimal string alignment distance between two words. */
function slipsBetween(a: string, b: string): number {
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let slips = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) slips = Math.min(slips, older[j - 2]! + 1);
      row.push(slips);
    }
    older = last;
    last = row;
  }
  return last[b.length]!;
}
