import {
  type Batch,
  batchText,
  type Column,
  type Connector,
  type ExtractContext,
  type OptionSet,
  type RunWarning,
  withDefaults,
} from '../../src/sdk/index.ts';

interface Run {
  readonly source: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly folder: string;
  readonly scratch?: string;
  readonly signal?: AbortSignal;
  /** Receives the run's warnings. */
  readonly onWarning?: (warning: RunWarning) => void;
}

/** A run's context, as the pipeline creates it, without a log. */
export function contextOf<S extends OptionSet, Q extends OptionSet>(
  connector: Connector<S, Q>,
  { source, query, folder, scratch = folder, signal = new AbortController().signal, onWarning }: Run,
): ExtractContext<S, Q> {
  const silent = () => undefined;
  return {
    source: withDefaults(connector.source, source),
    query: withDefaults(connector.query, query),
    folder,
    scratch,
    signal,
    log: { debug: silent, info: silent, warn: silent },
    warn: onWarning ?? silent,
  };
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: (string | null)[][];
}

/** Everything that one extract returns. */
export async function extractTable<S extends OptionSet, Q extends OptionSet>(
  connector: Connector<S, Q>,
  run: Run,
): Promise<Table> {
  const { columns, batches } = await connector.extract(contextOf(connector, run));
  const rows: (string | null)[][] = [];
  for await (const batch of batches) rows.push(...batchText(batch as Batch));
  return { columns, rows };
}
