import type { Format } from '../../formats/format.ts';
import type { Problem } from '../../lib/problem.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { Transform } from '../../transforms/transform.ts';
import type { Alerts } from '../alerts.ts';
import type { Catalog, Places } from '../catalog/catalog.ts';
import type { Config, Destination, RetryRule, SealKeys, Source } from '../config.ts';
import type { Values } from '../options/field.ts';
import type { topOptions } from '../options/settings.ts';
import type { Document } from '../text/document.ts';
import type { Faults } from '../text/faults.ts';
import type { Environment } from '../text/run-command.ts';
import type { Part } from '../text/variables.ts';
import type { WrittenGuards } from './guards.ts';
import type { ScheduleRules } from './schedule.ts';

/** The top level of the file, its three maps not yet looked into. */
export interface Top
  extends Pick<Values<typeof topOptions>, 'timezone' | 'monitor' | 'disk' | 'concurrency' | 'onStartError'> {
  /** As written, variables resolved. */
  readonly part: Part;
  readonly folder: string;
  /** Absolute. */
  readonly state: string;
  readonly allowCommands: boolean;
  /** Ends commands that still run. */
  readonly signal?: AbortSignal;
  readonly sealKeys: SealKeys;
  /** The guards of all jobs. */
  readonly guards: WrittenGuards;
  readonly keep: NonNullable<Config['keep']>;
  /** What goes for all schedules that do not say otherwise. */
  readonly scheduleRules: ScheduleRules;
  /** When runs are tried again whose jobs do not say otherwise; false: not at all. */
  readonly retry: RetryRule | false;
  readonly alerts?: Alerts;
  /** Where connectors are looked for beside our own. */
  readonly places: Places;
  readonly destinations: ReadonlyMap<string, unknown>;
  readonly sources: ReadonlyMap<string, unknown>;
  readonly jobs: ReadonlyMap<string, unknown>;
}

/** What one name of the config came to: the thing, or what is wrong with it. */
export interface LoadResult<T> {
  readonly value?: T;
  readonly problems: readonly Problem[];
}

/** What jobs, sources and destinations are loaded against. */
export interface LoadContext {
  readonly document: Document;
  readonly top: Top;
  readonly env: Environment;
  /** Takes each member that is opened. */
  readonly parts: Part[];
  readonly catalog: Catalog;
  readonly formats: readonly Format[];
  readonly transforms: readonly Transform[];
}

/** A source, or what is wrong with it; its connector even then, so that the queries of its jobs can be checked. */
export interface SourceResult extends LoadResult<Source> {
  readonly connector?: Connector;
}

/** A job in the making. */
export interface Draft {
  readonly part: Part;
  readonly given: Readonly<Record<string, unknown>>;
  readonly faults: Faults;
  /** Faults of the source and the destination that the job names: they keep it out, but are reported there. */
  readonly blamed: Problem[];
}

export interface JobContext extends LoadContext {
  readonly destinations: ReadonlyMap<string, LoadResult<Destination>>;
  readonly sources: ReadonlyMap<string, SourceResult>;
}
