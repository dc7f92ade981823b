import { aroundDurable, type DurableStep } from './durable.ts';

/** What the disk does to steps below DISK_UNDER: DISK_FAULTS is a list of these as JSON; the first that fits is played. */
interface DiskFault {
  readonly what: string;
  /** Part of the path. */
  readonly on?: string;
  /** `short`: a write takes half of what it was given; anything else is the code of a failure. */
  readonly fails: string;
  /** So many such steps pass before. */
  readonly after?: number;
  /** So often; always where nothing is said. */
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

/** As the system says it: a failure to open names the file, one of an open file does not. */
function failure(code: string, { what, on }: DurableStep): Error {
  const path = what === 'create' ? { path: on } : {};
  return Object.assign(new Error(`${code}: the disk says so, ${what}`), { code, syscall: what, ...path });
}
