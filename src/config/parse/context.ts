import type { Format } from '../../formats/format.ts';
import type { Problem } from '../../lib/problem.ts';
import type { Environment } from '../../lib/run-program.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { JobReference } from '../../sdk/job-rows.ts';
import type { SecretReader } from '../../secrets/secret-reader.ts';
import type { StateLocation } from '../../state/engine/state-database.ts';
import type { Transform } from '../../transforms/transform.ts';
import type { Alerts } from '../alerts.ts';
import type { Catalog, Places } from '../catalog/catalog.ts';
import type { Config, Destination, Job, RetryRule, SealKeys, Source } from '../config.ts';
import type { Values } from '../options/field.ts';
import type { topOptions } from '../options/top.ts';
import type { Document } from '../text/document.ts';
import type { Faults } from '../text/faults.ts';
import type { Part } from '../text/variables.ts';
import type { WrittenGuards } from './guards.ts';
import type { ScheduleRules } from './schedule.ts';

/** The file's top level. Its three maps haven't been parsed yet. */
export interface Top
  extends Pick<Values<typeof topOptions>, 'timezone' | 'monitor' | 'disk' | 'concurrency' | 'onStartError'>,
    StateLocation {
  /** The top level as written in the file, but with variables resolved. */
  readonly part: Part;
  readonly folder: string;
  readonly allowCommands: boolean;
  /** Reads secrets while this config is loaded. */
  readonly secrets: SecretReader;
  /** Stops commands that are still running. */
  readonly signal?: AbortSignal;
  readonly withoutSecrets?: boolean;
  readonly sealKeys: SealKeys;
  /** The default guards, which apply to all jobs. */
  readonly guards: WrittenGuards;
  readonly keep: NonNullable<Config['keep']>;
  readonly scheduleRules: ScheduleRules;
  /** The default retry rule. False disables retries. */
  readonly retry: RetryRule | false;
  readonly alerts?: Alerts;
  /** Where to look for connectors in addition to the built-in ones. */
  readonly places: Places;
  readonly destinations: ReadonlyMap<string, unknown>;
  readonly sources: ReadonlyMap<string, unknown>;
  readonly jobs: ReadonlyMap<string, unknown>;
}

/** The result of loading one entry of a map: its value, its errors, or both. */
export interface LoadResult<T> {
  readonly value?: T;
  readonly problems: readonly Problem[];
}

/** Everything that's needed to load jobs, sources and destinations. */
export interface LoadContext {
  readonly document: Document;
  readonly top: Top;
  readonly env: Environment;
  /** Collects the part of each entry whose variables were resolved. */
  readonly parts: Part[];
  readonly catalog: Catalog;
  readonly formats: readonly Format[];
  readonly transforms: readonly Transform[];
}

/**
 * A source, or its errors. The connector is included even if there are errors, so that the source's jobs can still be
 * validated.
 */
export interface SourceResult extends LoadResult<Source> {
  readonly connector?: Connector;
}

/** A job while it's being loaded. */
export interface Draft {
  readonly part: Part;
  readonly given: Readonly<Record<string, unknown>>;
  readonly faults: Faults;
  /**
   * Errors in the job's source and destination. These errors exclude the job, but they're reported for the source or
   * destination.
   */
  readonly blamed: Problem[];
  /** The jobs whose rows the job reads, if its query is valid. */
  readonly reads: JobReference[];
}

/** A job, or its errors. The jobs whose rows it reads are included even if there are errors. */
export interface JobResult extends LoadResult<Job> {
  readonly reads?: readonly JobReference[];
}

export interface JobContext extends LoadContext {
  readonly destinations: ReadonlyMap<string, LoadResult<Destination>>;
  readonly sources: ReadonlyMap<string, SourceResult>;
}
