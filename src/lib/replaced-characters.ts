import type { RunWarning } from './run-warnings.ts';

/** What stands in the place of a character that cannot be carried. */
export const replacementCharacter = '\ufffd';

/** One character that was replaced, and where. */
export interface ReplacedCharacter {
  /** A code unit that is half of a pair, or a character that a format lacks. */
  readonly codePoint: number;
  /** 1-based, of the run or of the input. */
  readonly row: number;
  readonly column: string;
}

/**
 * Counts the characters of a run that were written as U+FFFD, because UTF-8 has no form for them (halves of surrogate pairs) or
 * XML 1.0 cannot carry them (section 2.2).
 */
export class ReplacedCharacters {
  #count = 0;
  #first: ReplacedCharacter | undefined;

  /** `first` is called once in the life of this. */
  add(count: number, first: () => ReplacedCharacter): void {
    if (count === 0) return;
    this.#count += count;
    this.#first ??= first();
  }

  /** Undefined if all characters were carried as they are. */
  get warning(): RunWarning | undefined {
    if (this.#first === undefined) return undefined;
    const { codePoint, row, column } = this.#first;
    const code = codePoint.toString(16).toUpperCase().padStart(4, '0');
    const what = this.#count === 1 ? '1 character' : `${this.#count} characters`;
    return {
      code: 'CHARACTERS_REPLACED',
      message: `${what} that UTF-8 or XML cannot carry became U+FFFD; the first one in row ${row}, column ${JSON.stringify(column)}`,
      seen: `U+${code}`,
      next: 'clean the texts at the source or by a transform; csv and json carry control characters',
      replaced: true,
    };
  }
}

/** The halves of surrogate pairs that stand alone in a text: UTF-8 has none. */
export function loneSurrogates(text: string): readonly string[] {
  return text.isWellFormed() ? [] : (text.match(/\p{Cs}/gu) ?? []);
}
