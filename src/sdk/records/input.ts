import { Problem, type ProblemLocation } from '../../lib/problem.ts';
import { cutText } from '../../lib/redact.ts';

/** A document with records: a file, or one page of a response. */
export interface RecordInput {
  /** The input's name in errors: a path, or `page 3`. */
  readonly name: string;
  /** The path to which errors refer, if the input is a file. */
  readonly file?: string;
  /** The local path, for formats that need random access (zip, xlsx). */
  readonly local?: string;
  /** The modification time, if known. */
  readonly modified?: Date;
  /** Other facts about the input, by the names of their columns. */
  readonly facts?: Readonly<Record<string, string | undefined>>;
  /** Throws if the file at `local` has changed since it was first checked. */
  unchanged?(): Promise<void>;
  /**
   * Opens the bytes from the start. It's called again for a second pass, so it must return the same bytes each time.
   */
  open(): AsyncIterable<Uint8Array>;
}

/** Position in an input. */
export interface InputPosition {
  readonly line?: number;
  readonly row?: number;
  readonly column?: string;
}

/** What is wrong with an input. */
export interface InputFault {
  readonly code: string;
  readonly family?: 'row' | 'job';
  readonly message: string;
  readonly spot?: InputPosition;
  readonly seen?: string;
  readonly allowed?: string;
  readonly next?: string;
}

/** A problem with an input's content; the message begins with the input's name and line. */
export function faultIn(input: RecordInput, fault: InputFault): Problem {
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

/** A value, shortened to fit on one line of an error. */
export function shorten(text: string, maxCharacters = 60): string {
  return cutText(text, maxCharacters);
}
