import type { Problem } from '../../lib/problem.ts';
import { tooManyColumns } from './columns.ts';
import { faultIn, type RecordInput } from './input.ts';

/** Where a row is, for errors. */
interface RowPlace {
  readonly input: RecordInput;
  /** 1-based. */
  readonly line: number;
}

/** A row has fewer or more cells than the header. */
export function raggedRow({ input, line }: RowPlace, width: number, seen: number): Problem {
  return faultIn(input, {
    code: 'CSV_RAGGED',
    message: `a row has ${seen} ${seen === 1 ? 'cell' : 'cells'}, but the header has ${width}`,
    spot: { line },
    seen: String(seen),
    allowed: String(width),
    next:
      seen < width
        ? 'fix the row, or check `delimiter`, `quote`, `skip_rows` (which counts a `sep=` line) and `skip_footer`; if missing cells at the end of a row are empty, set `null_padding: true`'
        : 'fix the row, or check `delimiter`, `quote` and `skip_rows` (which counts a `sep=` line)',
  });
}

export function tooWideRow({ input, line }: RowPlace, seen: number): Problem {
  return tooManyColumns(input, {
    message: `the first row has ${seen} columns`,
    spot: { line },
    next: 'transpose the table, or split it',
  });
}

export function openQuote(place: RowPlace): Problem {
  return misplacedQuote(place, {
    message: 'the row that begins here has a quoted cell without a closing quote',
    next: "add the closing quote, or set `quote: ''` if quotes have no meaning in this data",
  });
}

export function textAfterQuote(place: RowPlace): Problem {
  return misplacedQuote(place, {
    message: 'text follows a closing quote',
    next: "double the quotes inside the cell, set `escape`, or set `quote: ''`",
  });
}

export function strayQuote(place: RowPlace, seen: string): Problem {
  const isIndented = /^ +"/.test(seen);
  return misplacedQuote(place, {
    message: 'an unquoted cell contains a quote',
    seen,
    next: isIndented
      ? 'set `skip_initial_space: true`, so that the cell may begin with spaces before its quote'
      : "quote the cell and double the quote, or set `quote: ''` if quotes have no meaning in this data",
  });
}

function misplacedQuote({ input, line }: RowPlace, fault: { message: string; seen?: string; next: string }): Problem {
  return faultIn(input, { code: 'CSV_QUOTE', spot: { line }, ...fault });
}
