import type { Config } from '../config/config.ts';
import { readJobsOf } from '../config/read-jobs.ts';
import { Gateway } from '../delivery/gateway.ts';
import { daysOf } from '../delivery/quota.ts';
import type { Network } from '../delivery/send-gate.ts';
import type { Clock } from '../lib/clock.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import { Events } from '../lib/events.ts';
import { loadHttp } from '../lib/http.ts';
import { type Log, quietLog } from '../lib/log.ts';
import type { LoginRegistry } from '../oauth/login-registry.ts';
import { sweepSpool } from '../pipeline/sweep-spool.ts';
import { claimFolder } from '../state/claim-folder.ts';
import { claimPayloads } from '../state/claim-payloads.ts';
import { Disk } from '../state/disk.ts';
import { maxTravelMs } from '../state/quota/slot-rest.ts';
import { type RecoverResult, recover } from '../state/recover.ts';
import { openStore, type Store } from '../state/store.ts';
import type { SluiceEvents } from './events.ts';
import { LoginBreaker } from './login-holds/login-breaker.ts';
import { logEvents } from './logs/log-events.ts';
import type { Installation } from './process/installation.ts';

/** The composition root. Creates the runtime's objects once per process. Only the config can be replaced later. */
export interface Runtime {
  readonly store: Store;
  readonly gateway: Gateway;
  readonly logins: Logins;
  /** The circuit breaker that decides whether a source may log in. */
  readonly loginGate: LoginBreaker;
  readonly events: Events<SluiceEvents>;
  readonly clock: Clock;
  readonly log: Log;
  /** Limits the state folder's size. If absent, the size is unlimited. */
  readonly room?: DiskSpace;
  /** The installed package that this process runs; absent in short-lived processes. */
  readonly installation?: Installation;
  /** What the process found and recovered at startup. */
  readonly healed: RecoverResult;
  /** Closes all connections and files. Owed payloads remain owed. */
  close(): Promise<void>;
}

export interface RuntimeOptions {
  readonly config: Config;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Default: the real network. */
  readonly network?: Network;
  /** False if no other process needs the state, so the state can be discarded when this process exits. */
  readonly durable?: boolean;
  /** Aborted when this process must end. */
  readonly stop?: AbortSignal;
}

/** Opens and recovers a config's state, and creates all objects that move rows. */
export async function composeRuntime(given: RuntimeOptions): Promise<Runtime> {
  const { config, log = quietLog, durable = true, stop, ...around } = given;
  const events = new Events<SluiceEvents>();
  logEvents(events, log);
  loadWhileReading(events);
  const keep = config.keep === undefined ? {} : { keep: config.keep };
  const { state, stateDatabase: database } = config;
  const store = await openStore(state, { database, clock: given.clock, durable, stop, ...keep });
  store.keepRowsOf(readJobsOf(config));
  const { clock } = store;
  try {
    if (database !== undefined && durable) {
      await claimFolder(store);
      await claimPayloads(store);
    }
    for (const folder of store.payloads.folders()) await sweepSpool(folder);
    const healed = await recover(store, { prunes: config.stateDatabase === undefined });
    sayHealed(log, healed);
    const gateway = await openGateway({ ...around, store, events, clock, config });
    const logins = await openLogins({ store, events, clock, config });
    const loginGate = new LoginBreaker({ store, clock, emit: events.emit, ...config });
    const close = async (): Promise<void> => {
      await logins.close();
      await gateway.close();
      await store.close();
    };
    return {
      store,
      gateway,
      logins,
      loginGate,
      events,
      clock,
      log,
      healed,
      close,
      ...roomIn(store, { config, events }),
    };
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

function roomIn(
  store: Store,
  { config: { disk: limits }, events }: { config: Config; events: Events<SluiceEvents> },
): Pick<Runtime, 'room'> {
  if (limits === undefined) return {};
  const disk = new Disk({ store, limits, forgot: (what) => events.emit('payloads.forgotten', what) });
  store.limitCopies((bytes) => disk.claimCopy(bytes));
  return { room: disk };
}

/**
 * Opens the clients for a config's destinations, using a store that is already open. If a destination has a new key,
 * today's usage still counts.
 */
export async function openGateway(given: {
  store: Store;
  events: Events<SluiceEvents>;
  clock: Clock;
  config: Pick<Config, 'destinations' | 'jobs'>;
  network?: Network;
}): Promise<Gateway> {
  const { events, config, ...rest } = given;
  await followAccounts(given, config);
  const priorityOf = (job: string) => config.jobs.get(job)?.priority;
  return new Gateway({ ...rest, destinations: config.destinations.values(), emit: events.emit, priorityOf });
}

/** Records the account of each destination in a config. */
export function followAccounts(
  { store, clock }: Pick<Runtime, 'store' | 'clock'>,
  { destinations }: Pick<Config, 'destinations'>,
): Promise<void> {
  return store.accountHistory.track([...destinations.values()], () => daysOf(clock.now(), maxTravelMs));
}

/** Everything that a run needs to get tokens for its source. */
export type Logins = Pick<LoginRegistry, 'of' | 'close'>;

const noLogins: Logins = { of: () => undefined, close: async () => undefined };

/**
 * Opens the logins for a config's sources, using a store that is already open. If the config has no logins, their code
 * isn't loaded.
 */
export async function openLogins(given: {
  store: Store;
  events: Events<SluiceEvents>;
  clock: Clock;
  config: Config;
}): Promise<Logins> {
  const { store, events, clock, config } = given;
  if ([...config.sources.values()].every(({ login }) => login === undefined)) return noLogins;
  const { LoginRegistry } = await import('../oauth/login-registry.ts');
  return new LoginRegistry({ store, clock, emit: events.emit, ...config });
}

/**
 * Loads the HTTP client in advance while a large extract waits for its source. Small extracts end sooner and often find
 * no changes, so loading the client for them would often be wasted.
 */
function loadWhileReading(events: Events<SluiceEvents>): void {
  events.listen((name, facts) => void (name === 'extract.progressed' && facts.rows > smallExtract && loadHttp()));
}

const smallExtract = 10_000;

function sayHealed(log: Log, { interrupted, damaged, swept }: RecoverResult): void {
  for (const { id, job } of interrupted) log.warn('a run was interrupted because its process ended', { job, run: id });
  for (const { job, path } of damaged) log.error('a damaged payload was moved aside', { job, path });
  if (swept.length > 0) log.info('deleted unused files', { files: swept.length });
}
