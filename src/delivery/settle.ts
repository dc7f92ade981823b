import type { DraftPayload } from '../pipeline/payload.ts';
import { instanceKeyOf } from '../state/outbox/instance-key.ts';
import type { UnsealedPayload } from '../state/outbox/new-payload.ts';
import type { EnqueueResult } from '../state/outbox/outbox.ts';
import type { OutboxRow } from '../state/tables.ts';
import { addressOf } from './address.ts';
import { factsOf } from './facts.ts';
import type { Gateway } from './gateway.ts';
import { type ResultCandidate, type Verdict, verdictOf } from './verdict.ts';

/**
 * The outcome of settling a result. The run is settled too, unless the payload is `owed`: in that case, delivery
 * settles the run.
 */
export type SettleResult =
  | Exclude<Verdict, { readonly state: 'owed' }>
  | { readonly state: 'superseded' }
  | { readonly state: 'owed'; readonly row: OutboxRow };

/** A finished result with its checkpoint. */
export interface FinishedResult extends ResultCandidate, Pick<UnsealedPayload, 'watermark' | 'generation'> {
  readonly run: string;
  readonly payload: DraftPayload;
}

/** A run's outbox entry and its event fields. */
interface Settling {
  readonly gateway: Gateway;
  readonly owing: UnsealedPayload;
  readonly facts: ReturnType<typeof factsBefore>;
  readonly draft: DraftPayload;
}

/**
 * Settles a run by its result, in one transaction: refused (empty, or too large), quarantined by a guard, unchanged,
 * superseded by newer data, or owed from now on. Call this once per run, after the store has begun the run. A result
 * that must survive a power loss is synced to disk before that transaction; the file of any other result isn't kept.
 */
export async function settle(gateway: Gateway, result: FinishedResult): Promise<SettleResult> {
  const { job, run, payload: draft, watermark, generation } = result;
  try {
    const owing = {
      run,
      job: job.name,
      destination: job.destination,
      ...(await addressOf(gateway.store, job)),
      payload: draft,
      formatOptions: job.extract?.formatOptions,
      mediaType: job.extract?.format.mediaType ?? 'application/octet-stream',
      always: job.always,
      watermark,
      generation,
    };
    const settling = { gateway, owing, facts: factsBefore(owing), draft };
    return await carryOut(settling, await verdictOf(result, { store: gateway.store, key: instanceKeyOf(owing) }));
  } finally {
    await draft.discard();
  }
}

async function carryOut(settling: Settling, verdict: Verdict): Promise<SettleResult> {
  const { gateway, owing, facts } = settling;
  if (verdict.state === 'failed') return refuse(settling, verdict);
  if (verdict.state === 'quarantined') return quarantine(settling, verdict);
  if (verdict.state === 'unchanged' && (await gateway.store.outbox.settleIfShown(owing))) {
    gateway.emit('payload.unchanged', facts);
    return { state: 'unchanged' };
  }
  return enqueue(settling);
}

async function refuse(
  { gateway, owing, facts, draft: { rows, bytes } }: Settling,
  verdict: Extract<Verdict, { state: 'failed' }>,
): Promise<SettleResult> {
  const { problem } = verdict;
  const { code, message } = problem;
  await gateway.store.runs.finish(owing.run, { state: 'failed', rows, bytes, problem });
  gateway.emit('payload.refused', { ...facts, code, message });
  return verdict;
}

async function quarantine(
  { gateway, owing, facts, draft }: Settling,
  verdict: Extract<Verdict, { state: 'quarantined' }>,
): Promise<SettleResult> {
  const payload = await draft.seal();
  const { id, superseded } = await gateway.store.quarantine.put({ ...owing, payload }, verdict);
  const { problem, guards } = verdict;
  const { code, message } = problem;
  gateway.emit('payload.quarantined', { ...facts, id, code, message, guards });
  await releaseSuperseded(gateway, superseded);
  return verdict;
}

async function enqueue({ gateway, owing, facts, draft }: Settling): Promise<SettleResult> {
  const { store, emit, verified } = gateway;
  const payload = await draft.seal();
  const result: EnqueueResult = await store.outbox.enqueue({ ...owing, payload });
  const { state } = result;
  if (state === 'owed') verified.add(result.row.id);
  if (state === 'unchanged') emit('payload.unchanged', facts);
  else emit(`payload.${state}`, { ...facts, id: result.row.id });
  await releaseSuperseded(gateway, result.superseded);
  if (state === 'owed') return { state, row: result.row };
  await store.payloads.release(payload.path);
  return { state };
}

async function releaseSuperseded({ emit, store }: Gateway, rows: readonly OutboxRow[]): Promise<void> {
  for (const row of rows) {
    emit('payload.superseded', factsOf(row));
    await store.payloads.release(row.path);
  }
}

function factsBefore({ job, run, destination, instance, payload }: UnsealedPayload) {
  const { sha256, bytes, rows } = payload;
  return { job, run, destination: destination.name, instance, sha256, bytes, rows };
}
