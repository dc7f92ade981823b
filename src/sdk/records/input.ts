import { Problem, type ProblemLocation } from '../../lib/problem.ts';
import { cutText } from '../../lib/redact.ts';

/** One document with records: a file, or one page of a response. */
export interface RecordInput {
  /** Its name in errors: a path, or `page 3`. */
  readonly name: string;
  /** Its path, if it is a file: errors then refer to it. */
  readonly file?: string;
  /** Its local path, for formats that need random access (zip, xlsx). */
  readonly local?: string;
  /** Its modification time, if known. */
  readonly modified?: Date;
  /** Other facts about it, for columns with these names. */
  readonly facts?: Readonly<Record<string, string | undefined>>;
  /** Throws if the file at `local` has changed since the first check. */
  unchanged?(): Promise<void>;
  /** Opens the bytes from the start. Called again for a second pass, so it must return the same bytes. */
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
