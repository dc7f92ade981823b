import { secretProviders } from '../../secrets/index.ts';

/**
 * Returns the index of the brace that closes the one opened before `from`, or -1 if there is none. Skips nested braces.
 */
export function closing(text: string, from: number): number {
  for (let i = from, depth = 1; i < text.length; i++) {
    if (text[i] === '{') depth++;
    if (text[i] === '}' && --depth === 0) return i;
  }
  return -1;
}

const secretStart = new RegExp(`\\$\\{\\s*(?:${[...secretProviders.keys()].join('|')})\\s*:`, 'g');

/** Returns a string's variables whose values come from a secrets provider. */
export function secretVariablesIn(text: string): string[] {
  const found = [...text.matchAll(secretStart)].map(({ index }) => [index, closing(text, index + 2)] as const);
  return found.flatMap(([start, end]) => (end < 0 ? [] : [text.slice(start, end + 1)]));
}

/** Whether a string contains a variable whose value may change while this process runs. */
export function isRenewable(written: string): boolean {
  return /\$\{\s*(?:file|cmd)\s*:/.test(written) || secretVariablesIn(written).length > 0;
}
