import type { Runtime } from '../../daemon/compose.ts';
import type { DeliveryState } from '../../delivery/send-payload.ts';
import type { OutboxRow } from '../../state/tables.ts';
import { instantText } from '../output/format.ts';
import { exitFor, type Flags, show } from './with-runtime.ts';

/**
 * Makes one attempt to send a payload that was just released, and reports the result. If the attempt fails, the payload
 * remains owed.
 */
export async function sendNow(row: OutboxRow, given: { runtime: Runtime; flags: Flags; done: string }): Promise<void> {
  const { store, gateway } = given.runtime;
  const { deliverRows } = await import('../../delivery/deliver.ts');
  // Reads the payload's state again, because a daemon may have sent the payload in the meantime.
  const now = await store.outbox.find(row.id);
  const { signal } = new AbortController();
  const [result] = await deliverRows(now === undefined ? [] : [now], { gateway, signal, priority: 'person' });
  const sent: SendResult = result ?? { state: 'owed' };
  const { state, until } = sent;
  const problem = sent.problem && { code: sent.problem.code, message: sent.problem.message };
  const { job, run, instance, bytes, row_count: rows } = row;
  show(given.flags, {
    text: `${given.done}\n${sentence(sent)}`,
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

type SendResult = DeliveryState | { readonly state: 'owed'; readonly until?: undefined; readonly problem?: undefined };

function sentence({ state, until, problem }: SendResult): string {
  const why = problem === undefined ? '' : ` (${problem.code}: ${problem.message})`;
  const at = until === undefined ? '' : ` until ${instantText(until)}`;
  if (state === 'delivered') return 'Delivered: the instance shows the data.';
  if (state === 'unchanged') return 'The instance already shows exactly this data.';
  if (state === 'superseded') return 'Superseded by newer data.';
  if (state === 'dead') return `The service rejected the payload${why}.`;
  if (state === 'waiting_quota') return `Not delivered yet: waiting for the daily quota${at}.`;
  if (state === 'waiting_login') return `Not delivered yet: the destination rejects the credentials${why}.`;
  if (state === 'waiting_retry')
    return `Not delivered yet: waiting to retry${at}${why}; the daemon or the job's next sync will send the payload.`;
  return "Not delivered yet: the payload's destination is no longer in the config; add it again to send the payload.";
}
