import { instanceLock } from '../state/engine/lock-keys.ts';
import { keyOf } from '../state/outbox/instance-key.ts';
import type { OutboxRow } from '../state/tables.ts';
import type { Closed } from './closed.ts';
import { factsOf } from './facts.ts';
import type { GatedRequest } from './gated-request.ts';
import type { Gateway } from './gateway.ts';
import type { RequestOutcome } from './retry.ts';
import type { SendGate } from './send-gate.ts';
import type { Priority } from './send-queue.ts';
import { dataPath, upload } from './upload.ts';

export interface SendOptions {
  readonly gateway: Gateway;
  readonly gate: SendGate;
  readonly priority: Priority;
  /** Aborts the wait for a slot, so that no new request starts. */
  readonly signal: AbortSignal;
  /** Aborts requests in progress. */
  readonly cut: AbortSignal;
  /** Time until which to wait for a slot, in epoch milliseconds. */
  readonly deadline?: number | undefined;
}

interface UploadRequest<R> extends Pick<GatedRequest<R>, 'rank' | 'deadline' | 'waits' | 'prepare'> {
  /** The attempt number of a prepared row. */
  readonly attempt: (row: R) => number;
}

/** The outcome of an upload and its row as sent, or the gate's reason for not sending it. */
type UploadResult<R> = { readonly row: R; readonly outcome: RequestOutcome } | { readonly closed: Closed } | 'idle';

/** Sends a payload's file once through the gate, which rate-limits and counts it. */
export async function sendUpload<R extends OutboxRow>(
  row: OutboxRow,
  { attempt, ...request }: UploadRequest<R>,
  { gateway: { clock, emit }, gate, priority, signal, cut }: SendOptions,
): Promise<UploadResult<R>> {
  let sent: R | undefined;
  const outcome = await gate.send<R>({
    ...{ method: 'PUT', path: dataPath(row), priority, signal, keys: [instanceLock(keyOf(row))], ...request },
    prepare: async (parts) => {
      sent = await request.prepare(parts);
      return sent;
    },
    send: async (prepared, beforeSent) => {
      emit('upload.started', { ...factsOf(prepared), attempt: attempt(prepared) });
      return upload(prepared, { agent: gate.agent, destination: gate.destination, clock, signal: cut, beforeSent });
    },
  });
  return outcome === 'idle' || 'closed' in outcome ? outcome : { row: sent!, outcome };
}
