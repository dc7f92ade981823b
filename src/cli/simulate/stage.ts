import { createHash } from 'node:crypto';
import { type Config, clientOf, type Destination, type Job, type Target } from '../../config/config.ts';
import { newId } from '../../lib/ids.ts';
import type { VirtualClock } from '../../lib/virtual-clock.ts';
import { type Habits, madeUpExtract } from './made-up-source.ts';

/** Everything that a config's jobs expect to find at the service, and the config that leads them there. */
export interface Stage {
  /** For the embedded service: an account for each of the config's, with its limits, and the data sources in it. */
  readonly fixtures: { readonly companies: readonly Company[] };
  /** Ids of the data sources that the config declares. */
  readonly declared: readonly Declared[];
  /** The config against the service at `url`, with its state in another folder. */
  configFor(given: { url: string; state: string }): Config;
}

interface Company {
  readonly name: string;
  readonly plan: 'enterprise';
  readonly requests_per_day: number;
  readonly requests_per_second: number;
  readonly users: readonly object[];
  readonly datasources: readonly Datasource[];
  readonly clients: readonly { readonly id: string; readonly name: string; readonly datasources: Datasource[] }[];
}

interface Datasource {
  readonly id: string;
  readonly name: string;
  readonly format: string;
}

interface Declared {
  readonly clientId?: string;
  readonly name: string;
  readonly id: string;
  readonly format: string;
}

interface StageGiven {
  readonly clock: VirtualClock;
  readonly habits: Habits;
}

/** Sets the stage for the jobs of a config that fire by themselves. */
export function setStage(config: Config, given: StageGiven): Stage {
  const accounts = [...Map.groupBy(config.destinations.values(), ({ account }) => account).values()];
  const keys = new Map(accounts.map(([first]) => [first!.account, newId()]));
  const places = new Places();
  const jobs = firingJobs(config).map((job) => ({ job, target: places.of(job) }));
  const companies = accounts.map((destinations, i) => companyOf(destinations, { i, key: keys, places }));
  const configFor: Stage['configFor'] = ({ url, state }) => {
    const destinations = new Map([...config.destinations].map(([name, one]) => [name, moved(one, { url, keys })]));
    const moving = jobs.map(({ job, target }) => [job.name, { ...playing(job, given), target }] as const);
    const all = moving.map(
      ([name, job]) => [name, { ...job, destination: destinations.get(job.destination.name)! }] as const,
    );
    return { ...kept(config), state, destinations, sources: new Map(), jobs: new Map(all) };
  };
  return { fixtures: { companies }, declared: places.declared, configFor };
}

/** Options of the daemon itself. A simulation sends no alerts. */
function kept({ file, folder, concurrency, onStartError }: Config) {
  return { file, folder, concurrency, onStartError };
}

/** The jobs that the daemon would fire. */
export function firingJobs({ jobs }: Config): Job[] {
  return [...jobs.values()].filter(({ enabled, schedule }) => enabled && schedule !== undefined);
}

/** A destination at another address, under a key of its own: the user's credentials are not used. */
function moved(
  destination: Destination,
  { url, keys }: { url: string; keys: ReadonlyMap<string, string> },
): Destination {
  return { ...destination, url, credentials: { kind: 'api_key', key: keys.get(destination.account)! } };
}

/** A job with rows that are made up: what guards would find in them says nothing. */
function playing({ guards: _, alerts: __, extract, ...job }: Job, given: StageGiven): Job {
  return extract === undefined ? job : { ...job, extract: madeUpExtract(job, extract, given) };
}

function companyOf(
  destinations: readonly Destination[],
  { i, key, places }: { i: number; key: ReadonlyMap<string, string>; places: Places },
): Company {
  const { account } = destinations[0]!;
  const { own, clients } = places.in(account);
  return {
    name: `Account ${i + 1}`,
    plan: 'enterprise',
    requests_per_day: Math.max(...destinations.map(({ requestsPerDay }) => requestsPerDay)),
    requests_per_second: Math.max(...destinations.map(({ requestsPerSecond }) => requestsPerSecond)),
    users: [{ email: `account-${i + 1}@simulation.invalid`, role: 'Admin', api_keys: [key.get(account)!] }],
    datasources: own,
    clients,
  };
}

interface Place extends Datasource {
  readonly account: string;
  readonly clientId: string | undefined;
}

/** Where the targets are: under the ids that the config names, as long as the service takes them and they are free. */
class Places {
  readonly declared: Declared[] = [];
  readonly #places = new Map<string, Place>();
  readonly #taken = new Set<string>();

  /** The target as it is called on the stage, made there where it is new. */
  of({ target, destination, extract }: Job): Target {
    const client = clientOf({ target, destination }).clientId;
    const at = { account: destination.account, clientId: client && fitting(client) };
    const clientId = at.clientId === undefined ? {} : { clientId: at.clientId };
    const format = extract?.format.id ?? 'json';
    if (target.kind === 'instance') {
      return { kind: 'instance', instance: this.#place(target.instance, { ...at, format }), ...clientId };
    }
    if (target.kind === 'refresh') {
      return {
        kind: 'refresh',
        datasources: target.datasources.map((id) => this.#place(id, { ...at, format })),
        ...clientId,
      };
    }
    const { declaration } = target;
    const id = this.#place(declaration.name, { ...at, format: declaration.format });
    this.declared.push({ id, name: declaration.name, format: declaration.format, ...clientId });
    return { ...target, ...clientId };
  }

  /** What an account holds, itself and through its clients. */
  in(account: string): Pick<Company, 'clients'> & { own: Datasource[] } {
    const here = [...this.#places.values()].filter((place) => place.account === account);
    const held = Map.groupBy(here, ({ clientId }) => clientId);
    const plain = ({ id, name, format }: Place): Datasource => ({ id, name, format });
    const clients = [...held].flatMap(([id, places]) =>
      id === undefined ? [] : [{ id, name: id, datasources: places.map(plain) }],
    );
    return { own: (held.get(undefined) ?? []).map(plain), clients };
  }

  #place(name: string, at: Omit<Place, 'id' | 'name'>): string {
    const key = JSON.stringify([at.account, at.clientId, name]);
    const known = this.#places.get(key);
    if (known !== undefined) return known.id;
    const id = this.#taken.has(fitting(name)) ? hashed(key) : fitting(name);
    this.#taken.add(id);
    this.#places.set(key, { ...at, id, name });
    return id;
  }
}

/** An id that the embedded service takes. */
function fitting(id: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : hashed(id);
}

function hashed(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
