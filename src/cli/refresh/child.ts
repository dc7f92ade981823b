import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { Problem, toProblem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import type { Sink } from '../../pipeline/stream-rows.ts';
import { addressPolicy } from '../../service/refresh/address-policy.ts';
import { guardSockets } from './guard-sockets.ts';
import { bytesFd, type RefreshOrder, type RefreshOutcome } from './protocol.ts';
import { readSource } from './read-source.ts';

/**
 * The child process for one refresh. It receives an order, writes the document to a pipe, reports the result and exits.
 */
const watchMs = 100;

/** Maps each resolved address to its host name. */
const names = new Map<string, string>();

process.once('message', (order: RefreshOrder) => void work(order));

async function work(order: RefreshOrder): Promise<void> {
  const stop = new AbortController();
  const pipe = new Socket({ fd: bytesFd, readable: false, writable: true });
  pipe.on('error', () => stop.abort(new Error('the reader has closed the pipe')));
  guardSockets(addressPolicy(order.reach), {
    onRefused: (problem) => stop.abort(problem),
    onResolved: (name, address) => names.set(address, name),
  });
  leaveWithParent(order);
  watchMemory(order, stop);
  let outcome: RefreshOutcome = { kind: 'done' };
  try {
    await readSource(order, sinkTo(pipe), stop.signal);
    await new Promise<void>((done) => void pipe.end(done));
  } catch (thrown) {
    outcome = { kind: 'failed', problem: plain(stop.signal.aborted ? stop.signal.reason : thrown) };
  }
  process.send?.(outcome, () => process.disconnect?.());
}

/**
 * Backpressure: waits while the pipe is full, so that the child doesn't read the source faster than the service accepts
 * the data.
 */
function sinkTo(pipe: Socket): Sink {
  return {
    write: (pieces, recycle) => {
      const written = pieces.map(
        (piece) =>
          new Promise<void>((done, fail) => {
            pipe.write(piece, (error) => {
              recycle(piece);
              if (error) fail(error);
              else done();
            });
          }),
      );
      return Promise.all(written).then(() => undefined);
    },
  };
}

/** If the service exits unexpectedly, this process must clean up and exit on its own. */
function leaveWithParent({ scratch }: RefreshOrder): void {
  process.once('disconnect', () => {
    rm(scratch, { recursive: true, force: true })
      .catch(() => undefined)
      .finally(() => process.kill(process.pid, 'SIGKILL'));
  });
}

/** Node limits only the heap. This function limits the memory of the whole process. */
function watchMemory({ limits }: RefreshOrder, stop: AbortController): void {
  const check = () => {
    if (process.memoryUsage.rss() > limits.memoryBytes) stop.abort(tooMuchMemory(limits.memoryBytes));
  };
  setInterval(check, watchMs).unref();
}

function tooMuchMemory(bytes: number): Problem {
  return new Problem({
    code: 'REFRESH_MEMORY',
    family: 'job',
    message: `Out of memory: the refresh exceeded ${Math.round(bytes / 1024 / 1024)} MB`,
    next: 'read less data at once: fewer rows, shorter periods or smaller pages',
  });
}

function plain(thrown: unknown): Extract<RefreshOutcome, { kind: 'failed' }>['problem'] {
  const met = isAboutDisk(thrown) ? noDisk(thrown) : thrown;
  const { code, family, message, seen, allowed, next } = toProblem(met, { code: 'REFRESH_THREW', family: 'bug' });
  return {
    code,
    family,
    message: sanitize(message),
    seen: seen === undefined ? undefined : sanitize(seen),
    allowed: allowed === undefined ? undefined : sanitize(allowed),
    next: next === undefined ? undefined : sanitize(next),
  };
}

/**
 * Redacts secrets, and replaces IP addresses with host names, because a user could use the addresses to explore the
 * service's network.
 */
function sanitize(text: string): string {
  let named = redact(text);
  for (const [address, name] of names) named = named.replaceAll(address, name);
  return named;
}

/** Whether a denied file access caused the error, directly or through its chain of causes. */
function isAboutDisk(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return (thrown as NodeJS.ErrnoException).code === 'ERR_ACCESS_DENIED' || isAboutDisk(thrown.cause);
}

function noDisk(cause: unknown): Problem {
  return new Problem({
    code: 'REFRESH_DISK',
    family: 'config',
    message: `A data source cannot read the service's files: ${(cause as Error).message}`,
    next: "pass the file's content as a property if there is one, such as host_key for sftp",
  });
}
