import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Problem } from '../lib/problem.ts';
import { beginningOf, excerpt } from '../lib/redact.ts';
import { makeTempFolder } from '../lib/temp-folder.ts';
import type { Pull, PullRequest } from '../service/refresh/pull.ts';
import { bytesFd, type RefreshOrder, type RefreshOutcome } from './refresh/protocol.ts';
import { startChild } from './refresh/start-child.ts';

/** The process's total memory limit, including its code, and the stall timeout for its source. */
const defaultLimits: RefreshOrder['limits'] = { memoryBytes: 768 * 1024 * 1024, stallMs: 2 * 60_000 };

/**
 * Refreshes the embedded service's data sources with connectors from the catalog. The service and the connectors don't
 * depend on each other; the command that starts the service connects them here. Each refresh runs in a separate
 * process. A data source's creator controls what its refresh does, so the process's access to disk, memory and network
 * is restricted in ways that no connector can bypass.
 */
export const pullDatasource: Pull = (request) => pullWith({}, request);

export interface PullOptions {
  readonly limits?: RefreshOrder['limits'];
  /** Path of the file that the child process runs. Default: `refresh/child`. */
  readonly entry?: string;
}

/** Like {@link pullDatasource}, but with custom limits or a different child file. */
export async function* pullWith(
  { limits = defaultLimits, entry }: PullOptions,
  request: PullRequest,
): AsyncGenerator<Uint8Array, void> {
  const { signal } = request;
  signal.throwIfAborted();
  const scratch = await makeTempFolder('refresh');
  const child = startChild(scratch, entry);
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  const gone = once(child, 'exit').catch((error: unknown) => error);
  try {
    const outcome = outcomeOf(child);
    const { signal: _, ...asked } = request;
    const order: RefreshOrder = { ...asked, scratch, limits };
    child.send(order, () => undefined);
    yield* child.stdio[bytesFd] as Readable;
    const { kind, problem } = (await outcome) as RefreshOutcome & {
      problem?: ConstructorParameters<typeof Problem>[0];
    };
    signal.throwIfAborted();
    if (kind === 'failed') throw new Problem(problem!);
  } finally {
    signal.removeEventListener('abort', end);
    end();
    await gone;
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Maximum number of characters to keep from the child's standard error. */
const maxErrorChars = 10_000;

/** The outcome that the child process reports, or a failure if the process exits without reporting one. */
function outcomeOf(child: ChildProcess): Promise<RefreshOutcome> {
  let errorText = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    // Keeps one more character than is shown, to detect that the text was truncated.
    errorText = (errorText + text).slice(0, maxErrorChars + 1);
  });
  return new Promise((resolve) => {
    child.once('message', (outcome: RefreshOutcome) => resolve(outcome));
    child.once('error', (error) =>
      resolve({ kind: 'failed', problem: died(error.message, beginningOf(errorText, maxErrorChars)) }),
    );
    child.once('close', (code, signal) =>
      resolve({ kind: 'failed', problem: died(String(signal ?? code), beginningOf(errorText, maxErrorChars)) }),
    );
  });
}

/** Node aborts a process whose heap is exhausted. */
function died(how: string, errorText: string): Extract<RefreshOutcome, { kind: 'failed' }>['problem'] {
  if (how === 'SIGABRT' || how === 'SIGKILL' || how === '134') {
    return {
      code: 'REFRESH_MEMORY',
      family: 'job',
      message: 'Out of memory: the refresh exceeded its memory limit',
      next: 'read less data at once: fewer rows, shorter periods or smaller pages',
    };
  }
  return {
    code: 'REFRESH_DIED',
    family: 'bug',
    message: `The refresh process ended unexpectedly (${how})`,
    seen: /^.*(?:Error|FATAL).*$/m.exec(errorText)?.[0] ?? excerpt(errorText, 200),
    next: "retry the refresh; if it fails again, report it with the connector's name and the property names",
  };
}
