import type { Extract, Job } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import type { VirtualClock } from '../../lib/virtual-clock.ts';
import { batchOf } from '../../sdk/batch.ts';
import type { Column } from '../../sdk/column.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { PastRuns } from '../../state/runs/past-runs.ts';
import { randomOf } from './prng.ts';

/** How the simulated sources behave. */
export interface SourceModel {
  readonly seed: number;
  /** The fraction of runs whose data has changed. Default: the fraction among past runs. */
  readonly changes: number | undefined;
  /** The fraction of runs whose source fails, from 0 to 1. */
  readonly failures: number;
  /**
   * The period in which all sources are down, in epoch milliseconds. The end is exclusive. Absent if there's no outage.
   */
  readonly outage?: { readonly from: number; readonly until: number } | undefined;
  readonly past: ReadonlyMap<string, PastRuns>;
}

/** Assumed run duration for jobs without past runs. */
const defaultMs = 2_000;
/** Maximum deviation from the average duration, as a fraction. */
const spread = 0.2;
/** Interval at which a source reports progress. It's short enough that the stall timeout never expires. */
const aliveEveryMs = 10_000;
const columns: readonly Column[] = [
  { name: 'job', type: 'text' },
  { name: 'version', type: 'integer' },
];

/**
 * Replaces a job's extract in a simulation. One row represents the whole result. The row's columns differ from the
 * source's, so transforms and keys aren't used.
 */
export function syntheticExtract(
  job: Job,
  { write: _, ...extract }: Extract,
  given: { clock: VirtualClock; model: SourceModel },
): Extract {
  const source = { name: extract.source.name, options: {}, connector: syntheticConnector(job.name, given) };
  return { ...extract, source, query: {}, transforms: [] };
}

function syntheticConnector(
  job: string,
  { clock, model: { seed, failures, past, changes, outage } }: { clock: VirtualClock; model: SourceModel },
): Connector {
  const known = past.get(job);
  const changed = changes ?? known?.changed ?? 1;
  let run = 0;
  let version = 0;
  return {
    id: 'synthetic',
    title: 'Synthetic',
    summary: 'Simulates the sources.',
    source: {},
    query: {},
    check: async () => 'nothing to check',
    async extract({ signal, alive }) {
      run += 1;
      const usual = known?.milliseconds ?? defaultMs;
      // Varies the duration so that no two runs end at the same instant.
      const end = clock.monotonic() + 1 + usual * (1 - spread + 2 * spread * randomOf(seed, 'takes', job, run));
      for (let left = end - clock.monotonic(); left > 0; left = end - clock.monotonic()) {
        await clock.sleep(Math.min(left, aliveEveryMs), signal);
        alive?.();
      }
      const now = clock.now();
      const isOutage = outage !== undefined && now >= outage.from && now < outage.until;
      if (isOutage || randomOf(seed, 'fails', job, run) < failures) throw sourceFailed();
      if (version === 0 || randomOf(seed, 'changes', job, run) < changed) version += 1;
      return { columns, batches: one([job, version]) };
    },
  };
}

async function* one(row: readonly (string | number)[]) {
  yield batchOf(columns, [row]);
}

function sourceFailed(): Problem {
  return new Problem({
    code: 'SIMULATED_FAILURE',
    family: 'try_later',
    message: 'The source failed (injected fault)',
  });
}
