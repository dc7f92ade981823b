import type { RunWarning } from './run-warnings.ts';

/** The character that is written instead of one that can't be represented. */
export const replacementCharacter = '\ufffd';

export interface ReplacedCharacter {
  /** Half of a surrogate pair, or a character that a format doesn't support. */
  readonly codePoint: number;
  /** 1-based row number within the run or the input. */
  readonly row: number;
  readonly column: string;
}

/**
 * Counts the characters of a run that were written as U+FFFD, because UTF-8 can't encode them (unpaired surrogates) or
 * XML 1.0 doesn't allow them (section 2.2).
 */
export class ReplacedCharacters {
  #count = 0;
  #first: ReplacedCharacter | undefined;

  /** Counts replaced characters. `first` is called only for the first one. */
  add(count: number, first: () => ReplacedCharacter): void {
    if (count === 0) return;
    this.#count += count;
    this.#first ??= first();
  }

  /** A warning about the replaced characters; undefined if there were none. */
  get warning(): RunWarning | undefined {
    if (this.#first === undefined) return undefined;
    const { codePoint, row, column } = this.#first;
    const code = codePoint.toString(16).toUpperCase().padStart(4, '0');
    const what = this.#count === 1 ? '1 character' : `${this.#count} characters`;
    return {
      code: 'CHARACTERS_REPLACED',
      message: `${what} that UTF-8 or XML cannot represent became U+FFFD; the first one is in row ${row}, column ${JSON.stringify(column)}`,
      seen: `U+${code}`,
      next: 'clean the values at the source or with a transform; csv and json support control characters',
      replaced: true,
    };
  }
}

/** The unpaired surrogates in a string, which UTF-8 can't encode. */
export function loneSurrogates(text: string): readonly string[] {
  return text.isWellFormed() ? [] : (text.match(/\p{Cs}/gu) ?? []);
}
