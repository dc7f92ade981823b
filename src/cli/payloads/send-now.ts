import type { Config } from '../../config/config.ts';
import type { Runtime } from '../../daemon/wire.ts';
import type { DeliveryResult } from '../../delivery/deliver.ts';
import type { OutboxRow } from '../../state/tables.ts';
import { instantText } from '../figures.ts';
import { exitFor, type Flags, show } from './with-runtime.ts';

/** Sends what a person has just let go, once, and says what became of it. What cannot be sent now stays owed. */
export async function sendNow(
  row: OutboxRow,
  given: { runtime: Runtime; config: Config; flags: Flags; done: string },
): Promise<void> {
  const { store, gateway, clock, events } = given.runtime;
  const { deliverOwed } = await import('../../delivery/deliver.ts');
  const [result] = await deliverOwed({
    store,
    gateway,
    destinations: given.config.destinations.values(),
    clock,
    emit: events.emit,
    signal: new AbortController().signal,
    only: [row.id],
    priority: 'person',
  });
  const { state, until, problem } = fateOf(result);
  const { job, run, instance, bytes, row_count: rows } = row;
  show(given.flags, {
    text: `${given.done}\n${sentence(state, until, problem)}`,
    data: {
      job,
      run,
      instance,
      rows,
      bytes,
      state,
      until: until === undefined ? undefined : new Date(until).toISOString(),
      problem,
    },
  });
  process.exitCode = exitFor(state);
}

interface Fate {
  readonly state: DeliveryResult['state'] | 'owed';
  readonly until?: number;
  readonly problem?: { readonly code: string; readonly message: string };
}

function fateOf(result: DeliveryResult | undefined): Fate {
  if (result === undefined) return { state: 'owed' };
  const until =
    result.state === 'waiting_quota' ? result.until : result.state === 'waiting_retry' ? result.at : undefined;
  const problem = 'problem' in result ? result.problem : undefined;
  return {
    state: result.state,
    until,
    problem: problem === undefined ? undefined : { code: problem.code, message: problem.message },
  };
}

function sentence(state: Fate['state'], until: number | undefined, problem: Fate['problem']): string {
  const why = problem === undefined ? '' : ` (${problem.code}: ${problem.message})`;
  const at = until === undefined ? '' : ` until ${instantText(until)}`;
  if (state === 'delivered') return 'Delivered: the instance shows it.';
  if (state === 'unchanged') return 'The instance shows these very bytes already.';
  if (state === 'superseded') return 'Newer data has taken its place meanwhile.';
  if (state === 'dead') return `The service does not take it${why}.`;
  if (state === 'waiting_quota') return `Owed: it waits for the daily quota${at}.`;
  if (state === 'login_needed') return `Owed: the destination refuses our credentials${why}.`;
  if (state === 'waiting_retry') return `Owed: it waits${at}${why}; the daemon or the next sync of the job sends it.`;
  return 'Owed: the config does not have its destination any more; it is sent once that is there again.';
}
