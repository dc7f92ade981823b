import type { Family } from '../../lib/problem.ts';
import type { Column } from '../column.ts';
import type { TokenSource } from '../oauth.ts';

/** Options by name, as in a config. */
export type Options = Readonly<Record<string, unknown>>;

/** Rows of canonical strings; null means that there is no value. */
export type CanonicalRows = readonly (readonly (string | null)[])[];

/** Changes to the working options. An option that is set to undefined is removed. */
export interface OptionChanges {
  readonly source?: Options;
  readonly query?: Options;
}

/** Parts that a world may omit if it gives a reason. */
export type WorldPart = 'credentials' | 'unreachable' | 'hostile' | 'many' | 'resume' | 'refused' | 'example';

/** A test source for a connector: as small as possible, but enough for all checks. */
export interface World {
  /** A name that distinguishes several worlds for one connector, such as `postgres`. */
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
  /** Working options. With these options, the connector must always return exactly `columns` and `rows`. */
  readonly source: Options;
  readonly query: Options;
  readonly columns: readonly Column[];
  readonly rows: CanonicalRows;
  /** The config file's folder, if the options have relative paths. */
  readonly folder?: string;
  /** The tokens, for a source with an OAuth description. */
  readonly login?: TokenSource;
  /** Secrets that aren't in options declared as secret, such as a password in a URL. */
  readonly secrets?: readonly string[];
  /** At least one set of invalid options, each with the name of the option that the problem must mention. */
  readonly refused?: readonly (OptionChanges & { readonly option: string })[];
  /** Credentials that the source refuses. The problem must be of the `login` family. */
  readonly credentials?: OptionChanges & { readonly login?: TokenSource };
  /** An unreachable source. The problem must be of the `try_later` family, unless another family is set. */
  readonly unreachable?: OptionChanges & { readonly family?: Family };
  /**
   * Reads a table whose columns are {@link hostileNames}. It has one row per value in {@link hostileValues}, and each
   * row repeats its value in every column. If the source supports only some names or values, `names` and `values` list
   * the supported ones, in the same order.
   */
  readonly hostile?: OptionChanges & { readonly names?: readonly string[]; readonly values?: readonly string[] };
  /** Reads at least 16 MB of cells. The source must not keep unsent data in this process's memory. */
  readonly many?: OptionChanges & { readonly rows: number };
  /** Required for each connector that declares `resumes`. */
  readonly resume?: Resume;
  /** Additional options with which the jobs in the connector's own example find rows in this source. */
  readonly example?: OptionChanges;
  /** Stops everything that `open` started. */
  close?(): Promise<void>;
}

/** For connectors that resume from a watermark. */
export interface Resume extends OptionChanges {
  /** Adds rows after the watermark, and returns the rows that the next extract must return. */
  grow(): Promise<CanonicalRows>;
  /**
   * Number of rows that the next extract may repeat. Must be 0 unless the vendor makes that impossible. Otherwise, it's
   * the number of rows at the boundary, or of all rows if the source reports only whether anything has changed and then
   * returns everything.
   */
  readonly repeated?: number;
  /** The columns that identify a row. Required if the connector lists the keys of this query's rows (`readsKeys`). */
  readonly key?: readonly string[];
}
