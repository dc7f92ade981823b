import { aroundDurable, type DurableStep } from './durable.ts';

/**
 * Makes disk operations below DISK_UNDER fail. DISK_FAULTS is a JSON list of faults; the first one that matches is
 * applied.
 */
interface DiskFault {
  readonly what: string;
  /** Part of the path. */
  readonly on?: string;
  /** `short` makes a write write half of what it was given; anything else is an error code. */
  readonly fails: string;
  /** Number of matching operations that succeed before the fault. */
  readonly after?: number;
  /** How often it happens; by default, always. */
  readonly times?: number;
}

const faults = (JSON.parse(process.env.DISK_FAULTS ?? '[]') as DiskFault[]).map((fault) => ({
  ...fault,
  left: fault.times ?? Number.POSITIVE_INFINITY,
  pass: fault.after ?? 0,
}));

aroundDurable(process.env.DISK_UNDER ?? '/nowhere', ({ what, on }, go, given) => {
  const fault = faults.find((one) => one.what === what && on.includes(one.on ?? '') && one.left > 0);
  if (fault === undefined || fault.pass-- > 0) return go(...given);
  fault.left -= 1;
  if (fault.fails !== 'short') throw failure(fault.fails, { what, on });
  const [piece, offset, length, position] = given as [Buffer, number, number, number];
  return go(piece, offset, Math.ceil(length / 2), position);
});

/** As the system reports errors: a failed open names the file, but an error on an open file doesn't. */
function failure(code: string, { what, on }: DurableStep): Error {
  const path = what === 'create' ? { path: on } : {};
  return Object.assign(new Error(`${code}: the disk says so, ${what}`), { code, syscall: what, ...path });
}
