import type { Job } from '../config/config.ts';
import { countOf } from '../lib/count-text.ts';
import { Problem } from '../lib/problem.ts';
import type { Payload } from '../pipeline/payload.ts';
import type { Generation } from '../state/checkpoints/generations.ts';
import { instanceKeyOf, type NewPayload } from '../state/outbox/new-payload.ts';
import type { Store } from '../state/store.ts';
import { addressOf, type TargetAddress } from './address.ts';
import { factsOf } from './facts.ts';
import type { Gateway } from './gateway.ts';
import { checkCandidate, type GuardCandidate } from './guard-check.ts';

/** What a finished extract came to. The run is settled, but for `owed`, where the delivery settles it. */
export type CommitResult =
  | { readonly state: 'owed'; readonly id: number }
  | { readonly state: 'superseded'; readonly id: number }
  | { readonly state: 'unchanged' }
  | { readonly state: 'quarantined'; readonly problem: Problem }
  | { readonly state: 'refused'; readonly problem: Problem };

/** A finished result, and what goes with it. */
interface Finished<P> extends GuardCandidate {
  readonly run: string;
  readonly payload: P & GuardCandidate['payload'];
  /** How far the source was read, for a job that goes on from there. */
  readonly watermark?: { readonly reading: string; readonly text: string };
  /** The data set that the payload was made of, for a job that keeps its rows. */
  readonly generation?: Generation;
}

type UnsealedFile = Omit<Payload, 'path'>;

/**
 * Settles a run by a result that the instance is known to show, byte for byte, before its file is safe on the disk: what
 * is not to be sent need not outlive the power. False where it has to go the whole way, and then nothing has happened.
 */
export async function passPayload(gateway: Gateway, given: Finished<UnsealedFile>): Promise<boolean> {
  const { store, emit } = gateway;
  const { job, payload } = given;
  if (refusalOf(job, payload) !== undefined) return false;
  const owing = owingOf(given, await addressOf(store, job));
  if ((await checkCandidate(given, { store, key: instanceKeyOf(owing) })) !== undefined) return false;
  if (!(await store.outbox.settleIfShown(owing))) return false;
  emit('payload.unchanged', plainFacts({ ...given, instance: owing.instance }));
  return true;
}

/**
 * Hands a finished payload over to delivery: refused (empty where the job does not allow it, or too large), held
 * back by a guard, unchanged, superseded by newer data, or owed from now on. Call it once per run, with the run that the store began.
 */
export async function commitPayload(gateway: Gateway, given: Finished<Payload>): Promise<CommitResult> {
  const { store } = gateway;
  const { job, payload } = given;
  const refusal = refusalOf(job, payload);
  if (refusal !== undefined) return refuse(gateway, { ...given, problem: refusal });
  const address = await addressOf(store, job);
  const owing = owingOf(given, address);
  const quarantined = await quarantine(gateway, { ...given, owing });
  if (quarantined !== undefined) return quarantined;
  const owed = await store.outbox.enqueue(owing);
  await announce(gateway, { ...given, instance: address.instance, owed });
  return owed.state === 'unchanged' ? { state: 'unchanged' } : { state: owed.state, id: owed.id };
}

function owingOf<P>(
  { job, run, payload, watermark, generation }: Finished<P>,
  address: TargetAddress,
): Omit<NewPayload, 'payload'> & { readonly payload: P & GuardCandidate['payload'] } {
  return {
    run,
    job: job.name,
    destination: job.destination,
    ...address,
    payload,
    mediaType: job.extract?.format.mediaType ?? 'application/octet-stream',
    always: job.always,
    watermark,
    generation,
  };
}

/** Zero rows and too many bytes never come near the outbox: no request is spent on either. Undefined when it may go. */
export function refusalOf(job: Job, payload: Pick<Payload, 'rows' | 'bytes'>): Problem | undefined {
  const where = { job: job.name, line: job.line, stage: 'deliver' };
  if (payload.rows === 0 && !job.allowEmpty) {
    return new Problem({
      code: 'EMPTY_REFUSED',
      family: 'job',
      message: 'The source gave no rows; the instance keeps its current data',
      where,
      seen: '0 rows',
      next: 'check the query; if an empty result is right, set allow_empty: true in the job',
    });
  }
  const limit = job.destination.uploadLimitBytes;
  if (payload.bytes <= limit) return undefined;
  return new Problem({
    code: 'PAYLOAD_TOO_LARGE',
    family: 'job',
    message: 'The payload is larger than the destination takes; nothing was cut and nothing was sent',
    where,
    seen: `${countOf(payload.bytes, 'byte')}, ${countOf(payload.rows, 'row')}`,
    allowed: `${countOf(limit, 'byte')}`,
    next: 'select fewer rows or columns, or raise upload_limit_bytes of the destination if the service takes more',
  });
}

/** Undefined where no guard objects. */
async function quarantine(
  { store, emit }: Gateway,
  {
    owing,
    ...judged
  }: GuardCandidate & { readonly run: string; readonly payload: Payload; readonly owing: NewPayload },
): Promise<CommitResult | undefined> {
  const objection = await checkCandidate(judged, { store, key: instanceKeyOf(owing) });
  if (objection === undefined) return undefined;
  const { problem, guards, ...verdict } = objection;
  const { id, superseded } = await store.quarantine.put(owing, verdict);
  const { code, message } = problem;
  emit('payload.quarantined', { ...plainFacts({ ...owing, ...judged }), id, code, message, guards });
  for (const row of superseded) {
    emit('payload.superseded', factsOf(row));
    await store.payloads.release(row.path);
  }
  return { state: 'quarantined', problem };
}

async function refuse(
  { store, emit }: Gateway,
  { job, run, payload, problem }: { job: Job; run: string; payload: Payload; problem: Problem },
): Promise<CommitResult> {
  const { code, message } = problem;
  await store.runs.finish(run, {
    state: 'failed',
    rows: payload.rows,
    bytes: payload.bytes,
    problem,
  });
  emit('payload.refused', { ...plainFacts({ job, run, payload, instance: '' }), code, message });
  await store.payloads.release(payload.path);
  return { state: 'refused', problem };
}

async function announce(
  { store, emit, verified }: Gateway,
  given: {
    job: Job;
    run: string;
    payload: Payload;
    instance: string;
    owed: Awaited<ReturnType<Store['outbox']['enqueue']>>;
  },
): Promise<void> {
  const { owed, payload } = given;
  const facts = plainFacts(given);
  if (owed.state === 'owed') verified.add(owed.id);
  if (owed.state === 'owed') emit('payload.owed', { ...facts, id: owed.id });
  if (owed.state === 'superseded') emit('payload.superseded', { ...facts, id: owed.id });
  if (owed.state === 'unchanged') emit('payload.unchanged', facts);
  for (const row of owed.superseded) {
    emit('payload.superseded', factsOf(row));
    await store.payloads.release(row.path);
  }
  if (owed.state !== 'owed') await store.payloads.release(payload.path);
}

function plainFacts(given: {
  job: Job;
  run: string;
  payload: Pick<Payload, 'sha256' | 'bytes' | 'rows'>;
  instance: string;
}) {
  const { job, run, payload, instance } = given;
  const { sha256, bytes, rows } = payload;
  return { job: job.name, run, destination: job.destination.name, instance, sha256, bytes, rows };
}
