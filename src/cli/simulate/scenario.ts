import { createHash } from 'node:crypto';
import { type Config, clientOf, type Destination, type Job, type Target } from '../../config/config.ts';
import { newId } from '../../lib/ids.ts';
import type { VirtualClock } from '../../lib/virtual-clock.ts';
import { type SourceModel, syntheticExtract } from './synthetic-source.ts';

/**
 * The data sources and limits that the service needs for a config's jobs, and the config with its destinations changed
 * to that service.
 */
export interface Scenario {
  /**
   * Fixtures for the embedded service: one company per account in the config, with the account's limits and data
   * sources.
   */
  readonly fixtures: { readonly companies: readonly Company[] };
  /** IDs of the data sources that the config declares. */
  readonly declared: readonly Declared[];
  /** Returns the config with its destinations changed to the service at `url` and with a different state folder. */
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

interface ScenarioOptions {
  readonly clock: VirtualClock;
  readonly model: SourceModel;
}

/** Builds the scenario for the scheduled jobs in a config. */
export function buildScenario(config: Config, given: ScenarioOptions): Scenario {
  const accounts = [...Map.groupBy(config.destinations.values(), ({ account }) => account).values()];
  const keys = new Map(accounts.map(([first]) => [first!.account, newId()]));
  const instances = new InstanceMap();
  const jobs = firingJobs(config).map((job) => ({ job, target: instances.of(job) }));
  const companies = accounts.map((destinations, i) => companyOf(destinations, { i, key: keys, instances }));
  const configFor: Scenario['configFor'] = ({ url, state }) => {
    const destinations = new Map([...config.destinations].map(([name, one]) => [name, redirected(one, { url, keys })]));
    const simulated = jobs.map(({ job, target }) => [job.name, { ...simulatedJob(job, given), target }] as const);
    const all = simulated.map(
      ([name, job]) => [name, { ...job, destination: destinations.get(job.destination.name)! }] as const,
    );
    return { ...daemonOptions(config), state, destinations, sources: new Map(), jobs: new Map(all) };
  };
  return { fixtures: { companies }, declared: instances.declared, configFor };
}

/** The daemon's own options. A simulation sends no alerts. */
function daemonOptions({ file, folder, concurrency, onStartError }: Config) {
  return { file, folder, concurrency, onStartError };
}

/** The jobs that the daemon would run on a schedule. */
export function firingJobs({ jobs }: Config): Job[] {
  return [...jobs.values()].filter(({ enabled, schedule }) => enabled && schedule !== undefined);
}

/** The destination with a different URL and its own key, so that the simulation never uses the user's credentials. */
function redirected(
  destination: Destination,
  { url, keys }: { url: string; keys: ReadonlyMap<string, string> },
): Destination {
  return { ...destination, url, credentials: { kind: 'api_key', key: keys.get(destination.account)! } };
}

/**
 * The job with synthetic rows. Its guards are removed, because their findings would be meaningless for synthetic rows.
 */
function simulatedJob({ guards: _, alerts: __, extract, ...job }: Job, given: ScenarioOptions): Job {
  return extract === undefined ? job : { ...job, extract: syntheticExtract(job, extract, given) };
}

function companyOf(
  destinations: readonly Destination[],
  { i, key, instances }: { i: number; key: ReadonlyMap<string, string>; instances: InstanceMap },
): Company {
  const { account } = destinations[0]!;
  const { own, clients } = instances.in(account);
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

interface MappedInstance extends Datasource {
  readonly account: string;
  readonly clientId: string | undefined;
}

/**
 * Maps targets to instance IDs. Uses the config's ID if it's unused and the embedded service accepts it; otherwise,
 * uses a hash of the ID.
 */
class InstanceMap {
  readonly declared: Declared[] = [];
  readonly #instances = new Map<string, MappedInstance>();
  readonly #taken = new Set<string>();

  /**
   * Returns the target with its IDs in the scenario. Adds the target's data source if the scenario doesn't have it yet.
   */
  of({ target, destination, extract }: Job): Target {
    const client = clientOf({ target, destination }).clientId;
    const at = { account: destination.account, clientId: client && validId(client) };
    const clientId = at.clientId === undefined ? {} : { clientId: at.clientId };
    const format = extract?.format.id ?? 'json';
    if (target.kind === 'instance') {
      return { kind: 'instance', instance: this.#idOf(target.instance, { ...at, format }), ...clientId };
    }
    if (target.kind === 'refresh') {
      return {
        kind: 'refresh',
        datasources: target.datasources.map((id) => this.#idOf(id, { ...at, format })),
        ...clientId,
      };
    }
    const { declaration } = target;
    const id = this.#idOf(declaration.name, { ...at, format: declaration.format });
    this.declared.push({ id, name: declaration.name, format: declaration.format, ...clientId });
    return { ...target, ...clientId };
  }

  /** An account's data sources: its own and those of its client accounts. */
  in(account: string): Pick<Company, 'clients'> & { own: Datasource[] } {
    const here = [...this.#instances.values()].filter((instance) => instance.account === account);
    const byClient = Map.groupBy(here, ({ clientId }) => clientId);
    const plain = ({ id, name, format }: MappedInstance): Datasource => ({ id, name, format });
    const clients = [...byClient].flatMap(([id, instances]) =>
      id === undefined ? [] : [{ id, name: id, datasources: instances.map(plain) }],
    );
    return { own: (byClient.get(undefined) ?? []).map(plain), clients };
  }

  #idOf(name: string, at: Omit<MappedInstance, 'id' | 'name'>): string {
    const key = JSON.stringify([at.account, at.clientId, name]);
    const known = this.#instances.get(key);
    if (known !== undefined) return known.id;
    const id = this.#taken.has(validId(name)) ? hashed(key) : validId(name);
    this.#taken.add(id);
    this.#instances.set(key, { ...at, id, name });
    return id;
  }
}

/** Returns the ID, or the ID's hash if the embedded service would reject the ID. */
function validId(id: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : hashed(id);
}

function hashed(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
