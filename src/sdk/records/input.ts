import { Problem, type ProblemLocation } from '../../lib/problem.ts';
import { cutText } from '../../lib/redact.ts';

/** One document to read records from: a file, or one page of an answer. */
export interface RecordInput {
  /** What a person calls it in an error: a path, or `page 3`. */
  readonly name: string;
  /** The file it is, where it is one: errors then point into it. */
  readonly file?: string;
  /** Where its bytes lie on this machine, for formats that are not read from front to back (zip, xlsx). */
  readonly local?: string;
  /** When it was last modified, where that is known. */
  readonly modified?: Date;
  /** What else is known of it, for columns of these names. */
  readonly facts?: Readonly<Record<string, string | undefined>>;
  /** Throws when the file at `local` is no longer what it was when it was first looked at. */
  unchanged?(): Promise<void>;
  /** Opens the bytes from the start. Called again for a second pass, so it must give the same bytes each time. */
  open(): AsyncIterable<Uint8Array>;
}

/** Position in an input. */
export interface InputPosition {
  readonly line?: number;
  readonly row?: number;
  readonly column?: string;
}

interface Fault {
  readonly code: string;
  readonly family?: 'row' | 'job';
  readonly message: string;
  readonly spot?: InputPosition;
  readonly seen?: string;
  readonly allowed?: string;
  readonly next?: string;
}

/** A problem with the content of an input; the message begins with the input's name and line. */
export function faultIn(input: RecordInput, fault: Fault): Problem {
  const { spot = {}, seen, allowed, next } = fault;
  const where: ProblemLocation = { file: input.file, ...spot };
  const place = spot.line === undefined ? input.name : `${input.name}, line ${spot.line}`;
  return new Problem({
    code: fault.code,
    family: fault.family ?? 'job',
    message: `${place}: ${fault.message}`,
    where,
    seen,
    allowed,
    next,
  });
}

/** A value short enough for one line of an error. */
export function shorten(text: string, most = 60): string {
  return cutText(text, most);
}
