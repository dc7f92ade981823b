import type { Format } from '../formats/format.ts';
import type { WriteRule } from '../kept-rows/write-rule.ts';
import type { Problem } from '../lib/problem.ts';
import type { Schedule } from '../schedule/schedule.ts';
import type { Connector } from '../sdk/connector.ts';
import type { GrantKind, OAuthDescription } from '../sdk/oauth.ts';
import type { OptionSet, OptionValues } from '../sdk/option.ts';
import type { Transform } from '../transforms/transform.ts';
import type { Alerts, OwnAlerts } from './alerts.ts';
import type { JobPriority } from './options/budget.ts';
import type { Values } from './options/field.ts';
import type { guardOptions } from './options/guards.ts';
import type { loginOptions } from './options/login.ts';
import type { retryOptions } from './options/retry.ts';
import type { checkOptions, destinationOptions, OnStartError, topOptions } from './options/settings.ts';
import type { shareOptions } from './options/target.ts';

export type { JobPriority } from './options/budget.ts';

/** A loaded and validated config with resolved secrets and names. Read-only; a reload creates a new one. */
export interface Config {
  /** Absolute path of the file it came from. */
  readonly file: string;
  /** The file's folder: relative paths are meant from here. */
  readonly folder: string;
  /** Absolute path of the state folder (database, payloads). */
  readonly state: string;
  readonly sealKeys?: SealKeys;
  /** IANA zone that schedules are meant in and people see times in; absent: UTC. */
  readonly timezone?: string;
  /** Address of the console and the metrics. Absent: off. */
  readonly monitor?: MonitorAddress;
  /** How many delivered payloads are kept on disk; absent: none. */
  readonly keep?: { readonly payloads: number; readonly milliseconds: number };
  /** How much of its disk the state folder may take; absent: all. */
  readonly disk?: DiskSettings;
  /** Alert settings; absent: no alerts. */
  readonly alerts?: Alerts;
  /** What the daemon does at its start about jobs that cannot run. */
  readonly onStartError: OnStartError;
  /** How many extracts run at a time. */
  readonly concurrency: number;
  readonly destinations: ReadonlyMap<string, Destination>;
  readonly sources: ReadonlyMap<string, Source>;
  readonly jobs: ReadonlyMap<string, Job>;
  /** Jobs of the file that are not in `jobs`, each with the faults that keep it out; absent: none. */
  readonly leftOut?: ReadonlyMap<string, readonly Problem[]>;
}

type TopValues = Values<typeof topOptions>;

/** Absent `freeBytes`: a twentieth of the disk stays free, 100 MB at most. */
export type DiskSettings = TopValues['disk'];

/** An address of this machine; port 0 takes a free one. */
export type MonitorAddress = NonNullable<TopValues['monitor']>;

/** What a destination is shown with each request. */
export type Credentials =
  | { readonly kind: 'api_key'; readonly key: string }
  | { readonly kind: 'basic'; readonly user: string; readonly password: string };

/** The account at the service that data is pushed to. `url` ends with the version, without a slash. */
export interface Destination extends Omit<Values<typeof destinationOptions>, 'apiKey' | 'basic' | 'account'> {
  readonly name: string;
  readonly credentials: Credentials;
  /**
   * The quota account. Destinations with the same `account` share limits; by default a hash of the
   * URL and the credentials, or the config's `account` name.
   */
  readonly account: string;
}

/** Where rows live, and the connector that reads them there. */
export interface Source extends Partial<Values<typeof checkOptions>> {
  readonly name: string;
  readonly connector: Connector;
  readonly options: OptionValues<OptionSet>;
  /** Resolves the files and commands that its secrets come from again, in place; absent if there are none. */
  readonly renew?: (source: Source) => Promise<void>;
  /** Where the connector logs in by OAuth. */
  readonly login?: Login;
}

/** How a source logs in at its vendor. Sources whose login has the same name share its tokens. */
export interface Login extends Values<typeof loginOptions> {
  readonly name: string;
  /** The vendor's side, the source's options filled in. */
  readonly description: OAuthDescription;
  readonly grant: GrantKind;
  /** What all sources of this login ask for together. */
  readonly scopes: readonly string[];
  /** Empty where an account file says who we are. */
  readonly clientId: string;
}

/** What tokens are encrypted with at rest. */
export interface SealKeys {
  /** Absent: a key file in the state folder, made when it is first needed. */
  readonly current?: string;
  /** Former keys, for reading alone. */
  readonly former: readonly string[];
}

/** One step of a job's `transforms`, its JSON Schema already checked. */
export interface TransformStep {
  readonly transform: Transform;
  readonly given: unknown;
}

/** What a job writes. */
export type Target =
  | { readonly kind: 'instance'; readonly instance: string; readonly clientId?: string }
  /** A declared data source: `apply` creates it and remembers its ids under this name. */
  | { readonly kind: 'datasource'; readonly declaration: DatasourceDeclaration; readonly clientId?: string }
  /** A bulk refresh: no rows are pulled. */
  | { readonly kind: 'refresh'; readonly datasources: readonly string[]; readonly clientId?: string };

/** A data source of the service as a job wants it to be. */
export interface DatasourceDeclaration {
  readonly name: string;
  readonly description: string;
  readonly format: string;
  readonly shares: readonly Share[];
}

/** A group or user that a declared data source is shared with. */
export type Share = Values<typeof shareOptions>;

/** One entry of `jobs`, with all that it names looked up and every default filled in. */
export interface Job {
  readonly name: string;
  /** 1-based line of the job in the config, for messages. */
  readonly line: number;
  readonly destination: Destination;
  readonly target: Target;
  /** Absent: it runs only when asked to. */
  readonly schedule?: Schedule;
  /** False: the daemon leaves it alone, `sync <job>` still runs it. */
  readonly enabled: boolean;
  /** Absent: `normal`. */
  readonly priority?: JobPriority;
  /** When a run that a passing fault ended is tried again; absent: not at all. */
  readonly retry?: RetryRule;
  /** Absent for a bulk refresh. */
  readonly extract?: Extract;
  /** Send even when the instance already has these very bytes. */
  readonly always: boolean;
  /** Zero rows may replace what the instance shows (invariant 1). */
  readonly allowEmpty: boolean;
  /** What a result must be like to be sent; absent: like anything. */
  readonly guards?: Guards;
  /** Overrides of the alert settings; `false`: no alerts for this job. */
  readonly alerts?: OwnAlerts | false;
}

/** Waits between the attempts of a run, and what ends them besides the next firing. Absent `attempts`: any number. */
export interface RetryRule extends Values<typeof retryOptions> {
  readonly firstMs: number;
  readonly longestMs: number;
  readonly withinMs: number;
}

type GuardValues = Values<typeof guardOptions>;

/** What is asked of a finished extract before it may replace what the instance shows. Parts are fractions: 0.5 is 50 %. */
export type Guards = { readonly [K in keyof GuardValues]?: Exclude<GuardValues[K], false> };

/** What a job pulls, and what becomes of the rows on their way into the payload. */
export interface Extract {
  readonly source: Source;
  readonly query: OptionValues<OptionSet>;
  readonly transforms: readonly TransformStep[];
  readonly format: Format;
  readonly formatOptions: OptionValues<OptionSet>;
  /** How rows become what the instance shows; absent: they replace it. */
  readonly write?: WriteRule;
  /** IANA zone of the job's calendar days: the schedule's, or the config's. */
  readonly timezone?: string;
  /** Stall timeout of the source, milliseconds; 0 disables it. */
  readonly stallTimeoutMs: number;
}

/** The client account that a job writes into: the one its target names, or else that of its destination. Ready to be spread. */
export function clientOf({ target, destination }: Pick<Job, 'target' | 'destination'>): { readonly clientId?: string } {
  const clientId = target.clientId ?? destination.clientId;
  return clientId === undefined ? {} : { clientId };
}
