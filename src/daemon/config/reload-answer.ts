import { redact } from '../../lib/redact.ts';
import type { Store } from '../../state/store.ts';
import type { RecordedFault } from './config-record.ts';

const askedName = 'daemon.reload.asked';
/** Name of the setting that contains the last request to all processes. */
const fleetName = 'fleet.reload';
/** Name of the process's setting that contains its last answer. */
const answerName = 'reload';

/** A reload's stored result. */
export interface ReloadAnswer {
  /** The newest reload request that this response covers. */
  readonly asked: number;
  readonly jobs: number;
  /** The SHA-256 of the config file that was read. Absent if it couldn't be read. */
  readonly config_sha256?: string;
  /** The reasons why the config was rejected; empty if the config is active. */
  readonly faults: readonly RecordedFault[];
  /** Warnings about the config. They didn't prevent it from becoming active. */
  readonly note?: string;
}

/** Stores a reload request, because a signal can't carry data. Returns the request's number. */
export function askForReload(store: Store): Promise<number> {
  return store.transaction(async ({ settings }) => {
    const asked = Number((await settings.find(askedName)) ?? 0) + 1;
    await settings.set(askedName, String(asked));
    return asked;
  });
}

/** A request to all processes that share a state on a server. */
export interface FleetRequest {
  readonly asked: number;
  /** Epoch milliseconds of the state's clock. */
  readonly at: number;
}

/** Stores a reload request that all processes notice by themselves. Returns the request's number. */
export async function askFleetForReload(store: Store): Promise<number> {
  const asked = await askForReload(store);
  const request: FleetRequest = { asked, at: store.clock.now() };
  await store.settings.set(fleetName, JSON.stringify(request));
  return asked;
}

/** Returns the last request to all processes. */
export async function fleetRequest(store: Store): Promise<FleetRequest | undefined> {
  const text = await store.settings.find(fleetName);
  return text === undefined ? undefined : (JSON.parse(text) as FleetRequest);
}

/**
 * Returns the newest request. Call this before reading the config, because a response must never confirm an edit that
 * the reload missed.
 */
export async function newestRequest(store: Store): Promise<number> {
  return Number((await store.settings.find(askedName)) ?? 0);
}

/** Stores a reload's result. */
export async function answerReload(answer: ReloadAnswer, store: Store): Promise<void> {
  await store.processSettings.set(answerName, redact(JSON.stringify(answer)));
}

/** Returns the response of the process `owner` to this request or a later one; undefined if there's no response yet. */
export async function answerTo(
  asked: number,
  { store, owner }: { readonly store: Store; readonly owner: string },
): Promise<ReloadAnswer | undefined> {
  const text = await store.processSettings.find(answerName, owner);
  const answer = text === undefined ? undefined : (JSON.parse(text) as ReloadAnswer);
  return answer !== undefined && answer.asked >= asked ? answer : undefined;
}
