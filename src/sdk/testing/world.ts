import type { Family } from '../../lib/problem.ts';
import type { Column } from '../column.ts';
import type { TokenSource } from '../oauth.ts';

/** Options by name, as in a config. */
export type Options = Readonly<Record<string, unknown>>;

/** Rows of canonical strings; null is an absent value. */
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
  /** Distinguishes several worlds of one connector: `postgres`. */
  readonly name?: string;
  /** Parts that this world can't provide, each with a reason. All other parts are required. */
  readonly waived?: Readonly<Partial<Record<WorldPart, string>>>;
  /**
   * Starts the test source: a real server, a fake vendor API, a folder of files. Called once, before the first check.
   */
  open(): Promise<TestSource>;
}

/** A working source and its content. */
export interface TestSource {
  /** Working options; with them, the connector must return exactly `columns` and `rows`, every time. */
  readonly source: Options;
  readonly query: Options;
  readonly columns: readonly Column[];
  readonly rows: CanonicalRows;
  /** The config file's folder, if the options have relative paths. */
  readonly folder?: string;
  /** For a source with an OAuth description. */
  readonly login?: TokenSource;
  /** Secrets besides the options that are declared secret, for example a password in a URL. */
  readonly secrets?: readonly string[];
  /** Invalid options, each with the name of the option that the problem must name. At least one. */
  readonly refused?: readonly (OptionChanges & { readonly option: string })[];
  /** Credentials that the source refuses; the problem must have family `login`. */
  readonly credentials?: OptionChanges & { readonly login?: TokenSource };
  /** An unreachable source; must fail as `try_later`, unless another family is set. */
  readonly unreachable?: OptionChanges & { readonly family?: Family };
  /**
   * Reads a table of {@link hostileNames} (its columns) with one row per {@link hostileValues}, repeated in every
   * column. If the source supports only some of them, `names` and `values` list the supported ones, in that order.
   */
  readonly hostile?: OptionChanges & { readonly names?: readonly string[]; readonly values?: readonly string[] };
  /** Reads at least 24 MB of cells. The source must not keep unsent data in this process's memory. */
  readonly many?: OptionChanges & { readonly rows: number };
  /** Required for every connector with `resumes`. */
  readonly resume?: Resume;
  /** Additional options for the jobs of the connector's own example to find rows here. */
  readonly example?: OptionChanges;
  /** Stops everything that `open` started. */
  close?(): Promise<void>;
}

/** For connectors that resume from a watermark. */
export interface Resume extends OptionChanges {
  /** Adds rows after the watermark and returns those that the next extract must return. */
  grow(): Promise<CanonicalRows>;
  /**
   * Rows that may be repeated; 0 unless the vendor makes that impossible: the rows at the boundary, or all rows if the
   * source only reports whether anything has changed and then returns everything.
   */
  readonly repeated?: number;
}
