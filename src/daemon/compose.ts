import type { Config } from '../config/config.ts';
import { Gateway } from '../delivery/gateway.ts';
import { daysOf } from '../delivery/quota.ts';
import type { Network } from '../delivery/send-gate.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import { Events } from '../lib/events.ts';
import { loadHttp } from '../lib/http.ts';
import { type Log, quietLog } from '../lib/log.ts';
import type { LoginRegistry } from '../oauth/login-registry.ts';
import { sweepSpool } from '../pipeline/sweep-spool.ts';
import { Disk } from '../state/disk.ts';
import { maxTravelMs } from '../state/quota/send-slots.ts';
import { type RecoverResult, recover } from '../state/recover.ts';
import { openStore, type Store } from '../state/store.ts';
import type { SluiceEvents } from './events.ts';
import { LoginBreaker } from './login-holds/login-breaker.ts';
import { logEvents } from './logs/log-events.ts';
import type { Installation } from './process/installation.ts';

/** The real things, put together once per process. The config may be exchanged; the rest stays. */
export interface Runtime {
  readonly store: Store;
  readonly gateway: Gateway;
  readonly logins: Logins;
  /** Asked before a source logs in. */
  readonly loginGate: LoginBreaker;
  readonly events: Events<SluiceEvents>;
  readonly clock: Clock;
  readonly log: Log;
  /** What may be written into the state folder; absent: anything. */
  readonly room?: DiskSpace;
  /** The package that runs; absent in processes that end soon. */
  readonly installation?: Installation;
  /** What startup found and recovered. */
  readonly healed: RecoverResult;
  /** Closes connections and files. What is owed stays owed. */
  close(): Promise<void>;
}

export interface RuntimeOptions {
  readonly config: Config;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Absent: the real one. */
  readonly network?: Network;
  /** False: the state need not outlive this process, nor be seen by another. */
  readonly durable?: boolean;
}

/** Opens the state of a config, heals it and builds what moves rows with it. */
export async function composeRuntime(given: RuntimeOptions): Promise<Runtime> {
  const { config, log = quietLog, clock = systemClock, durable = true, ...around } = given;
  const events = new Events<SluiceEvents>();
  logEvents(events, log);
  loadWhileReading(events);
  const keep = config.keep === undefined ? {} : { keep: config.keep };
  const store = await openStore(config.state, { clock, durable, ...keep });
  try {
    for (const folder of store.payloads.folders()) await sweepSpool(folder);
    const healed = await recover(store);
    sayHealed(log, healed);
    const gateway = await openGateway({ store, events, clock, config, ...around });
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
  return { room: new Disk({ store, limits, forgot: (what) => events.emit('payloads.forgotten', what) }) };
}

/** The gates to a config's destinations, over a store that is open. A destination with another key goes on with its day. */
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

/** Writes down which account each destination of a config pays from. */
export function followAccounts(
  { store, clock }: Pick<Runtime, 'store' | 'clock'>,
  { destinations }: Pick<Config, 'destinations'>,
): Promise<void> {
  return store.accountHistory.track([...destinations.values()], daysOf(clock.now(), maxTravelMs));
}

/** What a run asks for the tokens of its source. */
export type Logins = Pick<LoginRegistry, 'of' | 'close'>;

const noLogins: Logins = { of: () => undefined, close: async () => undefined };

/** The logins of a config's sources, over a store that is open. Configs without any do not pay for loading them. */
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
 * An extract that goes on waits for its source now and then, and what sending needs is loaded meanwhile. A small one is over
 * before that, and often found to be unchanged: it would be loaded for nothing.
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
