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
  /** Ends waiting: nothing more is started. */
  readonly signal: AbortSignal;
  /** Ends requests under way. */
  readonly cut: AbortSignal;
  /** Nothing waits for a slot beyond this, epoch milliseconds. */
  readonly deadline?: number | undefined;
}

interface UploadRequest<R> extends Pick<GatedRequest<R>, 'rank' | 'deadline' | 'waits' | 'prepare'> {
  /** The number of the attempt that a prepared row is. */
  readonly attempt: (row: R) => number;
}

/** How an upload ended, and its row as it was sent; or why nothing was sent, as the gate says it. */
type UploadResult<R> = { readonly row: R; readonly outcome: RequestOutcome } | { readonly closed: Closed } | 'idle';

/** Sends a payload's file once through the gate, which paces it and counts it. */
export async function sendUpload<R extends OutboxRow>(
  row: OutboxRow,
  { attempt, ...request }: UploadRequest<R>,
  { gateway: { clock, emit }, gate, priority, signal, cut }: SendOptions,
): Promise<UploadResult<R>> {
  let sent: R | undefined;
  const outcome = await gate.send<R>({
    ...{ method: 'PUT', path: dataPath(row), priority, signal, ...request },
    send: async (prepared) => {
      sent = prepared;
      emit('upload.started', { ...factsOf(prepared), attempt: attempt(prepared) });
      return upload(prepared, { agent: gate.agent, destination: gate.destination, clock, signal: cut });
    },
  });
  return outcome === 'idle' || 'closed' in outcome ? outcome : { row: sent!, outcome };
}
