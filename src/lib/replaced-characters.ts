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
  /** Column names with replaced characters, and the first such character of each. */
  readonly #names = new Map<string, number>();

  /** Counts replaced characters. `first` is called only for the first one. */
  add(count: number, first: () => ReplacedCharacter): void {
    if (count === 0) return;
    this.#count += count;
    this.#first ??= first();
  }

  /** Counts a column name with a replaced character. Each name counts once. */
  addName(name: string, codePoint: number): void {
    if (!this.#names.has(name)) this.#names.set(name, codePoint);
  }

  /** Warnings about the replaced characters: one for all values, and one for each column name. */
  get warnings(): readonly RunWarning[] {
    const names = [...this.#names].map(([name, codePoint]) => nameWarning(name, codePoint));
    return this.#first === undefined ? names : [this.#valueWarning(this.#first), ...names];
  }

  #valueWarning({ codePoint, row, column }: ReplacedCharacter): RunWarning {
    const what = this.#count === 1 ? '1 character' : `${this.#count} characters`;
    return {
      code: 'CHARACTERS_REPLACED',
      message: `${what} that UTF-8 or XML cannot represent became U+FFFD; the first one is in row ${row}, column ${JSON.stringify(column)}`,
      seen: codeText(codePoint),
      next: 'clean the values at the source or with a transform; csv and json support control characters',
      replaced: true,
    };
  }
}

function nameWarning(name: string, codePoint: number): RunWarning {
  return {
    code: 'CHARACTERS_REPLACED',
    message: `a character that UTF-8 or XML cannot represent was replaced in the column name ${JSON.stringify(name)}`,
    seen: codeText(codePoint),
    next: 'rename the column at the source or with an alias in the query',
    replaced: true,
  };
}

const codeText = (codePoint: number): string => `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;

/** Matches an unpaired surrogate, which UTF-8 can't encode. */
export const loneSurrogate = /\p{Cs}/u;

/** The unpaired surrogates in a string. */
export function loneSurrogates(text: string): readonly string[] {
  return text.isWellFormed() ? [] : (text.match(/\p{Cs}/gu) ?? []);
}
