import { Problem } from '../lib/problem.ts';

/** Where a checker stopped: the 1-based line and the 0-based byte in the document. */
export interface SyntaxPosition {
  readonly line: number;
  readonly byte: number;
}

/** The error for a document that a checker rejects. `what` is a plain sentence without a full stop. */
export function invalid(format: string, what: string, { line, byte }: SyntaxPosition): Problem {
  return new Problem({
    code: 'FORMAT_INVALID',
    family: 'job',
    message: `Not valid ${format}: ${what} at line ${line}, byte ${byte}`,
    where: { line },
  });
}
