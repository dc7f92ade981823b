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

/** A loaded and validated config, with secrets and names resolved. It's read-only: a reload creates a new one. */
export interface Config {
  /** Absolute path of the file that it came from. */
  readonly file: string;
  /** The file's folder, which relative paths start from. */
  readonly folder: string;
  /** Absolute path of the state folder (database, payloads). */
  readonly state: string;
  readonly sealKeys?: SealKeys;
  /** IANA time zone for schedules and for times shown to people; absent: UTC. */
  readonly timezone?: string;
  /** Address of the console and the metrics. Absent: off. */
  readonly monitor?: MonitorAddress;
  /** How many delivered payloads to keep on disk, and for how long; absent: none are kept. */
  readonly keep?: { readonly payloads: number; readonly milliseconds: number };
  /** Limits on the disk space that the state folder may use; absent: no limit. */
  readonly disk?: DiskSettings;
  /** Alert settings; absent: no alerts. */
  readonly alerts?: Alerts;
  /** What the daemon does at startup about jobs that can't run. */
  readonly onStartError: OnStartError;
  /** Maximum number of concurrent extracts. */
  readonly concurrency: number;
  readonly destinations: ReadonlyMap<string, Destination>;
  readonly sources: ReadonlyMap<string, Source>;
  readonly jobs: ReadonlyMap<string, Job>;
  /** Jobs in the file that aren't in `jobs`, each with the errors that exclude it; absent: none. */
  readonly leftOut?: ReadonlyMap<string, readonly Problem[]>;
}

type TopValues = Values<typeof topOptions>;

/** If `freeBytes` is absent, 5% of the disk stays free, but at most 100 MB. */
export type DiskSettings = TopValues['disk'];

/** An address on this machine; port 0 picks a free one. */
export type MonitorAddress = NonNullable<TopValues['monitor']>;

/** The credentials sent with each request. */
export type Credentials =
  | { readonly kind: 'api_key'; readonly key: string }
  | { readonly kind: 'basic'; readonly user: string; readonly password: string };

/** The service account that receives the data. `url` ends with the version, without a slash. */
export interface Destination extends Omit<Values<typeof destinationOptions>, 'apiKey' | 'basic' | 'account'> {
  readonly name: string;
  readonly credentials: Credentials;
  /** Reads the credentials again and updates them in place; absent if they can't change. */
  readonly renew?: (destination: { credentials: Credentials }) => Promise<void>;
  /**
   * The quota account. Destinations with the same `account` share limits; by default a hash of the
   * URL and the credentials, or the config's `account` name.
   */
  readonly account: string;
}

/** A place that rows are read from, and the connector that reads them. */
export interface Source extends Partial<Values<typeof checkOptions>> {
  readonly name: string;
  readonly connector: Connector;
  readonly options: OptionValues<OptionSet>;
  /**
   * Reads the files, commands and secrets behind its options again and updates the source in place; absent if there are
   * none.
   */
  readonly renew?: (source: Source) => Promise<void>;
  /** The login, if the connector uses OAuth. */
  readonly login?: Login;
}

/** How a source logs in to its vendor. Sources with the same login name share the login's tokens. */
export interface Login extends Values<typeof loginOptions> {
  readonly name: string;
  /** How the vendor's OAuth works, with the source's options filled in. */
  readonly description: OAuthDescription;
  readonly grant: GrantKind;
  /** The union of the scopes of all sources with this login. */
  readonly scopes: readonly string[];
  /** Empty if a service-account file identifies the client. */
  readonly clientId: string;
}

/** Keys that encrypt tokens at rest. */
export interface SealKeys {
  /** Absent: a key file in the state folder, created on first use. */
  readonly current?: string;
  /** Former keys, used only for decryption. */
  readonly former: readonly string[];
}

/** One step of a job's `transforms`, already validated against its JSON Schema. */
export interface TransformStep {
  readonly transform: Transform;
  readonly given: unknown;
}

/** What a job writes. */
export type Target =
  | { readonly kind: 'instance'; readonly instance: string; readonly clientId?: string }
  /** A declared data source: `apply` creates it and stores its IDs under this name. */
  | { readonly kind: 'datasource'; readonly declaration: DatasourceDeclaration; readonly clientId?: string }
  /** A bulk refresh: the job reads no rows. */
  | { readonly kind: 'refresh'; readonly datasources: readonly string[]; readonly clientId?: string };

/** The desired state of a data source at the service. */
export interface DatasourceDeclaration {
  readonly name: string;
  readonly description: string;
  readonly format: string;
  readonly shares: readonly Share[];
}

/** A group or user that a declared data source is shared with. */
export type Share = Values<typeof shareOptions>;

/** One entry of `jobs`, with references resolved and defaults filled in. */
export interface Job {
  readonly name: string;
  /** The job's 1-based line in the config, for messages. */
  readonly line: number;
  readonly destination: Destination;
  readonly target: Target;
  /** Absent: it only runs on request. */
  readonly schedule?: Schedule;
  /** False: the daemon ignores it; `sync <job>` still runs it. */
  readonly enabled: boolean;
  /** Absent: `normal`. */
  readonly priority?: JobPriority;
  /** When a run that failed with a transient error is retried; absent: never. */
  readonly retry?: RetryRule;
  /** Absent for a bulk refresh. */
  readonly extract?: Extract;
  /** Sends the result even if the instance already has the same bytes. */
  readonly always: boolean;
  /** Whether an empty result may replace what the instance shows (invariant 1). */
  readonly allowEmpty: boolean;
  /** Requirements that a result must meet before it's sent; absent: none. */
  readonly guards?: Guards;
  /** Overrides the alert settings; `false`: no alerts for this job. */
  readonly alerts?: OwnAlerts | false;
}

/**
 * The waits between a run's attempts, and their limits besides the next firing. Without `attempts`, their number is
 * unlimited.
 */
export interface RetryRule extends Values<typeof retryOptions> {
  readonly firstMs: number;
  readonly longestMs: number;
  readonly withinMs: number;
}

type GuardValues = Values<typeof guardOptions>;

/**
 * Requirements that a finished extract must meet before it replaces what the instance shows. Percentages are fractions:
 * 0.5 is 50 %.
 */
export type Guards = { readonly [K in keyof GuardValues]?: Exclude<GuardValues[K], false> };

/** What a job reads, and how its rows become the payload. */
export interface Extract {
  readonly source: Source;
  readonly query: OptionValues<OptionSet>;
  readonly transforms: readonly TransformStep[];
  readonly format: Format;
  readonly formatOptions: OptionValues<OptionSet>;
  /** How rows change what the instance shows; absent: they replace it. */
  readonly write?: WriteRule;
  /** IANA zone for the job's calendar days: the schedule's, otherwise the config's. */
  readonly timezone?: string;
  /** The source's stall timeout in milliseconds; 0 disables it. */
  readonly stallTimeoutMs: number;
}

/**
 * The client account that a job writes to: its target's, otherwise its destination's. Returned as an object to spread.
 */
export function clientOf({ target, destination }: Pick<Job, 'target' | 'destination'>): { readonly clientId?: string } {
  const clientId = target.clientId ?? destination.clientId;
  return clientId === undefined ? {} : { clientId };
}
