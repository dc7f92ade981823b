import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ProcessState } from '../../src/lib/process-identity.ts';
import type { DraftPayload, Payload } from '../../src/pipeline/payload.ts';
import { type HeartbeatTimes, localHeartbeats, type Processes } from '../../src/state/processes/processes.ts';
import { openStore, type Store, type StoreOptions } from '../../src/state/store.ts';
import { dropState, stateFor } from './engines.ts';

/** Named processes that live until they're killed. */
export class Population {
  readonly dead = new Set<string>();

  member(self: string, boot = 'boot-1'): Processes {
    const stateOf = (owner: string): ProcessState => (this.dead.has(owner) ? 'dead' : 'alive');
    return { self, boot, stateOf, sharesBoot: () => true };
  }
}

const folders: string[] = [];
const stores: Store[] = [];

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-state-'));
  folders.push(folder);
  return folder;
}

/**
 * A made-up process records heartbeats only if a test does so. A timer, which runs in real time, would bring it back to
 * life while a slow machine is still in the middle of a test that moves the clock.
 */
const noTimer: HeartbeatTimes = { ...localHeartbeats, everyMs: 86_400_000 };

export async function newStore({
  folder = newFolder(),
  processes,
  ...options
}: StoreOptions & { folder?: string }): Promise<Store> {
  const made = processes === undefined ? {} : { processes: { heartbeats: noTimer, ...processes } };
  const store = await openStore(folder, { ...stateFor(folder), ...options, ...made });
  stores.push(store);
  return store;
}

/**
 * Waits until no transaction is in progress. A test that advances a clock in a loop waits for this first: on a slow
 * server, hours would otherwise pass within one transaction.
 */
export const atRest = (store: Store): Promise<void> => store.transaction(async () => undefined);

/** For afterEach: closes every store and removes every folder that the test created. */
export async function cleanUp(): Promise<void> {
  for (const store of stores.splice(0)) await store.close();
  for (const folder of folders.splice(0)) {
    await dropState(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A payload on disk, in the folder of its run. */
export function spool(
  store: Store,
  options: { run: string; text: string; asOf: number; rows?: number | undefined },
): Payload {
  const bytes = Buffer.from(options.text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = join(store.payloads.folderOf(options.run), `${sha256}.csv`);
  writeFileSync(path, bytes, { mode: 0o600 });
  return { sha256, path, bytes: bytes.length, rows: options.rows ?? 1, format: 'csv', asOf: options.asOf };
}

/** Overwrites a payload's file, so that the payload can't be restored. */
export async function damage({ blobs }: Store, path: string, text: string): Promise<void> {
  if (blobs.areShared) await blobs.drop(path);
  writeFileSync(path, text);
}

/** Whether a payload's file is stored, even if this machine has no copy. */
export async function isStored({ blobs }: Store, path: string): Promise<boolean> {
  return (await blobs.sizes([path])).has(path);
}

/** A spooled payload as a run passes it on: its file exists already and is deleted unless it's sealed. */
export function draftOf({ path, ...payload }: Payload): DraftPayload {
  let isSealed = false;
  const seal = async () => {
    isSealed = true;
    return { ...payload, path };
  };
  const discard = async () => (isSealed ? undefined : rmSync(dirname(path), { recursive: true, force: true }));
  return { ...payload, columns: [], seal, discard };
}

export const place = { name: 'main', url: 'http://127.0.0.1:1/api/1.0' };

/** A run from its start until it owes `text` to an instance. */
export async function oweText(
  store: Store,
  options: {
    instance: string;
    text: string;
    asOf: number;
    always?: boolean;
    job?: string;
    clientId?: string;
    rows?: number;
  },
) {
  const job = options.job ?? `job-${options.instance}`;
  const run = await store.runs.begin({ job, origin: 'schedule' });
  const payload = spool(store, { run, text: options.text, asOf: options.asOf, rows: options.rows });
  const owed = await store.outbox.enqueue({
    run,
    job,
    destination: place,
    instance: options.instance,
    ...(options.clientId === undefined ? {} : { clientId: options.clientId }),
    payload,
    mediaType: 'text/csv; charset=utf-8',
    always: options.always ?? false,
  });
  return { run, payload, owed: 'row' in owed ? { ...owed, id: owed.row.id } : owed };
}
