import type { Payload } from '../../pipeline/payload.ts';
import { StateBlobs } from '../blobs/blobs.ts';
import type { Generation } from '../checkpoints/generations.ts';
import { storeSegments } from '../checkpoints/kept-files.ts';
import type { StoredWatermark } from '../checkpoints/watermarks.ts';
import type { StoreContext } from '../engine/context.ts';
import { storedPath } from '../engine/stored-paths.ts';
import { Runs } from '../runs/runs.ts';
import type { OutboxRow } from '../tables.ts';
import { instanceKeyOf } from './instance-key.ts';
import { pendingPayloads } from './pending-payloads.ts';
import { newest, Receipts } from './receipts.ts';

/** A payload to enqueue, together with its target and its run. */
export interface NewPayload {
  readonly run: string;
  readonly job: string;
  /** The destination's name and base URL. */
  readonly destination: { readonly name: string; readonly url: string };
  readonly clientId?: string;
  readonly instance: string;
  readonly payload: Payload;
  readonly mediaType: string;
  /** The options of the payload's format. Default: the format's own defaults. */
  readonly formatOptions?: Readonly<Record<string, unknown>> | undefined;
  /** Whether to send the payload even if the instance already has the same bytes. */
  readonly always: boolean;
  /** How far the run has read the source. It's committed in the same transaction as the payload. */
  readonly watermark?: Pick<StoredWatermark, 'reading' | 'text'>;
  /**
   * If the job keeps rows, the generation that the payload was created from. It's committed in the same transaction as
   * the watermark.
   */
  readonly generation?: Generation;
}

/** A payload whose file hasn't been synced to disk yet. */
export type UnsealedPayload = Omit<NewPayload, 'payload'> & { readonly payload: Omit<Payload, 'path'> };

/** Stores the files of a payload and its generation. Call this before the transaction that refers to them. */
export async function storeFiles(context: StoreContext, owing: NewPayload): Promise<void> {
  await new StateBlobs(context).put([owing.payload]);
  await storeKeptRows(context, owing);
}

/** Stores the files of a payload's generation. */
export async function storeKeptRows(context: StoreContext, { generation }: UnsealedPayload): Promise<void> {
  if (generation !== undefined) await storeSegments(context, generation.manifest.segments);
}

/**
 * Returns the payloads that are waiting for the instance, and whether newer data has already been enqueued or tried.
 */
export async function pendingFor(inside: StoreContext, owing: UnsealedPayload) {
  const key = instanceKeyOf(owing);
  const receipt = await new Receipts(inside).find(key);
  const waiting = await pendingPayloads(inside, key);
  const owed = waiting.filter(({ state }) => state === 'owed');
  const dates = owed.map(({ as_of }) => as_of);
  const isOld = newest(inside.clock.now(), [...dates, receipt?.tried_as_of]) > owing.payload.asOf;
  return { waiting, owed, isOld };
}

/**
 * Inserts a payload and settles its run with `state`. `waitingSince` is the time since which the instance has been
 * waiting for a payload (in epoch milliseconds), if the new payload supersedes one. Returns the new row.
 */
export async function recordPayload(
  context: StoreContext,
  owing: NewPayload,
  state: 'owed' | 'superseded' | 'quarantined',
  waitingSince = Number.POSITIVE_INFINITY,
): Promise<OutboxRow> {
  const { payload, destination } = owing;
  const now = Math.round(context.clock.now());
  const row = await context.db
    .insertInto('outbox')
    .values({
      run: owing.run,
      job: owing.job,
      destination: destination.name,
      url: destination.url,
      client_id: owing.clientId ?? '',
      instance: owing.instance,
      sha256: payload.sha256,
      path: storedPath(context.folder, payload.path),
      bytes: payload.bytes,
      row_count: payload.rows,
      format: payload.format,
      format_options: JSON.stringify(owing.formatOptions ?? {}),
      media_type: owing.mediaType,
      as_of: payload.asOf,
      always: owing.always ? 1 : 0,
      state,
      attempts: 0,
      last_attempt_at: null,
      next_attempt_at: null,
      code: null,
      message: null,
      owed_at: now,
      waiting_since: Math.min(now, waitingSince),
      settled_at: state === 'owed' ? null : now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const runs = new Runs(context);
  await runs.owed(owing.run, { rows: payload.rows, bytes: payload.bytes });
  if (state !== 'owed') await runs.settle(owing.run, { state });
  return row;
}
