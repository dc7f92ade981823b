import type { Family } from '../../lib/problem.ts';
import type { Column } from '../column.ts';
import type { TokenSource } from '../oauth.ts';

/** Options by name, as a config would give them. */
export type Options = Readonly<Record<string, unknown>>;

/** Rows as canonical text; null is an absent value. */
export type CanonicalRows = readonly (readonly (string | null)[])[];

/** Changes to the working options; an option that is undefined is removed. */
export interface OptionChanges {
  readonly source?: Options;
  readonly query?: Options;
}

/** Parts that a world may waive, with a reason. */
export type WorldPart = 'credentials' | 'unreachable' | 'hostile' | 'many' | 'resume' | 'refused' | 'example';

/** A test source for a connector: as small as possible, but enough for all checks. */
export interface World {
  /** Tells worlds of one connector apart: `postgres`. */
  readonly name?: string;
  /** Parts that this world cannot show, each with the reason. Everything else is demanded. */
  readonly waived?: Readonly<Partial<Record<WorldPart, string>>>;
  /** Starts the place: a real server, a double of the vendor, a folder of files. Called once, before the first check. */
  open(): Promise<TestSource>;
}

/** A working source and its content. */
export interface TestSource {
  /** Options that work; with them the connector gives exactly `columns` and `rows`, every time. */
  readonly source: Options;
  readonly query: Options;
  readonly columns: readonly Column[];
  readonly rows: CanonicalRows;
  /** The folder of the config file, where the options hold relative paths. */
  readonly folder?: string;
  /** For a source with an OAuth description. */
  readonly login?: TokenSource;
  /** Secrets besides the options that are declared secret, for example a password in a URL. */
  readonly secrets?: readonly string[];
  /** Options that pass for nothing, each with the name of the option that has to be blamed. At least one. */
  readonly refused?: readonly (OptionChanges & { readonly option: string })[];
  /** Credentials that the place does not know; it has to come out as family `login`. */
  readonly credentials?: OptionChanges & { readonly login?: TokenSource };
  /** An unreachable source; must fail as `try_later`, unless another family is set. */
  readonly unreachable?: OptionChanges & { readonly family?: Family };
  /**
   * Reads a table of {@link hostileNames} (its columns) with a row for each of {@link hostileValues}, which stands in every
   * column. Where a place can hold only some of them: `names` and `values` say which, in that order.
   */
  readonly hostile?: OptionChanges & { readonly names?: readonly string[]; readonly values?: readonly string[] };
  /** Reads at least 24 MB of cells. The place must not hold what it has not yet sent in memory of this process. */
  readonly many?: OptionChanges & { readonly rows: number };
  /** Demanded of every connector that says how it resumes. */
  readonly resume?: Resume;
  /** What the jobs of the connector's own example need beside the good source to find rows here. */
  readonly example?: OptionChanges;
  /** Stops everything that `open` started. */
  close?(): Promise<void>;
}

/** For connectors that go on where the last run ended. */
export interface Resume extends OptionChanges {
  /** Adds rows behind the watermark and returns those that the next extract has to give. */
  grow(): Promise<CanonicalRows>;
  /**
   * Rows that may come twice; 0 unless the vendor makes that impossible: those of the very edge, or all of them where a
   * source only reports whether anything has changed, and then returns everything.
   */
  readonly repeated?: number;
}
