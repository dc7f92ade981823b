import type { Format } from '../formats/format.ts';
import type { WriteRule } from '../kept-rows/write-rule.ts';
import type { Problem } from '../lib/problem.ts';
import type { Schedule } from '../schedule/schedule.ts';
import type { Connector } from '../sdk/connector.ts';
import type { GrantKind, OAuthDescription } from '../sdk/oauth.ts';
import type { OptionSet, OptionValues } from '../sdk/option.ts';
import type { StateLocation } from '../state/engine/state-database.ts';
import type { Transform } from '../transforms/transform.ts';
import type { Alerts, OwnAlerts } from './alerts.ts';
import type { JobPriority } from './options/budget.ts';
import type { destinationOptions } from './options/destination.ts';
import type { Values } from './options/field.ts';
import type { guardOptions } from './options/guards.ts';
import type { loginOptions } from './options/login.ts';
import type { retryOptions } from './options/retry.ts';
import type { checkOptions } from './options/source.ts';
import type { shareOptions } from './options/target.ts';
import type { OnStartError, topOptions } from './options/top.ts';

export type { JobPriority } from './options/budget.ts';

/**
 * A loaded and validated config. Secrets and names are resolved. The config is read-only: a reload creates a new one.
 */
export interface Config extends StateLocation {
  /** Absolute path of the config file. */
  readonly file: string;
  /** The config file's folder. Relative paths in the config start here. */
  readonly folder: string;
  readonly sealKeys?: SealKeys;
  /** IANA time zone for schedules and for displayed times. Default: UTC. */
  readonly timezone?: string;
  /** Address at which the console and the metrics are served. If absent, both are disabled. */
  readonly monitor?: MonitorAddress;
  /** How many delivered payloads to keep on disk, and for how long. If absent, delivered payloads aren't kept. */
  readonly keep?: { readonly payloads: number; readonly milliseconds: number };
  /** Limits for the state folder's disk usage. If absent, disk usage is unlimited. */
  readonly disk?: DiskSettings;
  /** Alert settings. If absent, no alerts are sent. */
  readonly alerts?: Alerts;
  /** How the daemon reacts at startup to jobs that can't run. */
  readonly onStartError: OnStartError;
  /** Maximum number of concurrent extracts. */
  readonly concurrency: number;
  readonly destinations: ReadonlyMap<string, Destination>;
  readonly sources: ReadonlyMap<string, Source>;
  readonly jobs: ReadonlyMap<string, Job>;
  /**
   * Jobs in the file that are excluded from `jobs`, each with the errors that exclude it. Absent if no job is excluded.
   */
  readonly leftOut?: ReadonlyMap<string, readonly Problem[]>;
  /** The jobs whose rows the excluded jobs read. Their payloads are kept until the errors are fixed. */
  readonly readByLeftOut?: ReadonlySet<string>;
}

type TopValues = Values<typeof topOptions>;

/** If `freeBytes` is absent, Sluice leaves 5 % of the disk free, but no more than 100 MB. */
export type DiskSettings = TopValues['disk'];

/** An address on this machine. Port 0 selects a free port. */
export type MonitorAddress = NonNullable<TopValues['monitor']>;

/** The credentials that are sent with each request. */
export type Credentials =
  | { readonly kind: 'api_key'; readonly key: string }
  | { readonly kind: 'basic'; readonly user: string; readonly password: string };

/** The service account that receives the data. `url` ends with the API version, without a trailing slash. */
export interface Destination extends Omit<Values<typeof destinationOptions>, 'apiKey' | 'basic' | 'account'> {
  readonly name: string;
  readonly credentials: Credentials;
  /** Reads the credentials again and updates them in place. Absent if the credentials can't change. */
  readonly renew?: (destination: { credentials: Credentials }) => Promise<void>;
  /**
   * The quota account: the config's `account` name if set, otherwise a hash of the URL and the credentials.
   * Destinations with the same `account` share limits.
   */
  readonly account: string;
}

/** A source of rows, and the connector that reads them. */
export interface Source extends Partial<Values<typeof checkOptions>> {
  readonly name: string;
  readonly connector: Connector;
  readonly options: OptionValues<OptionSet>;
  /**
   * Rereads the files, commands and secrets that the options refer to, and updates the source in place. Absent if the
   * options don't refer to any.
   */
  readonly renew?: (source: Source) => Promise<void>;
  /** The source's login, if its connector uses OAuth. */
  readonly login?: Login;
}

/** How a source logs in to its vendor. Sources with the same login name share the login's tokens. */
export interface Login extends Values<typeof loginOptions> {
  readonly name: string;
  /** The vendor's OAuth flow, with the values of the source's options inserted. */
  readonly description: OAuthDescription;
  readonly grant: GrantKind;
  /** The union of the scopes of all sources that use this login. */
  readonly scopes: readonly string[];
  /** Empty if a service-account file identifies the OAuth client. */
  readonly clientId: string;
}

/** Keys that encrypt tokens at rest. */
export interface SealKeys {
  /** The current key. If absent, Sluice uses a key file in the state folder, which it creates on first use. */
  readonly current?: string;
  /** Former keys, which are used only for decryption. */
  readonly former: readonly string[];
}

/** One step of a job's `transforms`, already validated against its JSON Schema. */
export interface TransformStep {
  readonly transform: Transform;
  readonly given: unknown;
}

/** What a job writes to. */
export type Target =
  | { readonly kind: 'instance'; readonly instance: string; readonly clientId?: string }
  /** A declared data source. `sluice apply` creates it and stores its IDs under this name. */
  | { readonly kind: 'datasource'; readonly declaration: DatasourceDeclaration; readonly clientId?: string }
  /** A bulk refresh. The job itself doesn't read any rows. */
  | { readonly kind: 'refresh'; readonly datasources: readonly string[]; readonly clientId?: string };

/** A data source's desired state in the service. */
export interface DatasourceDeclaration {
  readonly name: string;
  readonly description: string;
  readonly format: string;
  readonly shares: readonly Share[];
}

/** A group or user with whom a declared data source is shared. */
export type Share = Values<typeof shareOptions>;

/** One entry of `jobs`, with references resolved and defaults applied. */
export interface Job {
  readonly name: string;
  /** The job's line number in the config, starting at 1, for messages. */
  readonly line: number;
  readonly destination: Destination;
  readonly target: Target;
  /** The job's schedule. If absent, the job runs only on request. */
  readonly schedule?: Schedule;
  /** If false, the daemon never runs the job, but `sync <job>` still does. */
  readonly enabled: boolean;
  /** The job's priority. Default: `normal`. */
  readonly priority?: JobPriority;
  /** When to retry a run that failed with a transient error. If absent, such runs aren't retried. */
  readonly retry?: RetryRule;
  /** What the job reads. Absent for a bulk refresh. */
  readonly extract?: Extract;
  /** Whether to send the result even if the instance already has identical data. */
  readonly always: boolean;
  /** Whether an empty result may replace the instance's data (invariant 1). */
  readonly allowEmpty: boolean;
  /** Requirements that a result must meet before it's sent. If absent, every result is sent. */
  readonly guards?: Guards;
  /** The job's alert settings, which override the top-level ones. `false` disables alerts for this job. */
  readonly alerts?: OwnAlerts | false;
}

/**
 * The delays between a run's attempts, and limits on retrying. The next firing also ends the retries. Without
 * `attempts`, the number of attempts is unlimited.
 */
export interface RetryRule extends Values<typeof retryOptions> {
  readonly firstMs: number;
  readonly longestMs: number;
  readonly withinMs: number;
}

type GuardValues = Values<typeof guardOptions>;

/**
 * Requirements that a finished extract must meet before it replaces the instance's data. Percentages are fractions: 0.5
 * is 50 %.
 */
export type Guards = { readonly [K in keyof GuardValues]?: Exclude<GuardValues[K], false> };

/** What a job reads, and how its rows are converted to a payload. */
export interface Extract {
  readonly source: Source;
  readonly query: OptionValues<OptionSet>;
  readonly transforms: readonly TransformStep[];
  readonly format: Format;
  readonly formatOptions: OptionValues<OptionSet>;
  /** How a run's rows change the instance's data. If absent, they replace it. */
  readonly write?: WriteRule;
  /** IANA time zone that determines the job's calendar days: the schedule's time zone, otherwise the config's. */
  readonly timezone?: string;
  /** The source's stall timeout in milliseconds. 0 disables the timeout. */
  readonly stallTimeoutMs: number;
}

/**
 * The client account that a job writes to: the target's, otherwise the destination's. Returned as an object that
 * callers can spread.
 */
export function clientOf({ target, destination }: Pick<Job, 'target' | 'destination'>): { readonly clientId?: string } {
  const clientId = target.clientId ?? destination.clientId;
  return clientId === undefined ? {} : { clientId };
}
