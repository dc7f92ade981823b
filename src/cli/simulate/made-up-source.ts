import type { Extract, Job } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import type { VirtualClock } from '../../lib/virtual-clock.ts';
import { batchOf } from '../../sdk/batch.ts';
import type { Column } from '../../sdk/column.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { PastRuns } from '../../state/runs/past-runs.ts';
import { luckOf } from './luck.ts';

/** How the runs of the jobs are. */
export interface Habits {
  readonly seed: number;
  /** Part of the runs that bring something new, where the past does not say. */
  readonly changes: number | undefined;
  /** Part of the runs whose source fails, 0 to 1. */
  readonly failures: number;
  /** When no source answers, epoch milliseconds, the end excluded; absent: never. */
  readonly away?: { readonly from: number; readonly until: number } | undefined;
  readonly past: ReadonlyMap<string, PastRuns>;
}

/** A run of a job that has no past: neither quick nor slow. */
const usualMs = 2_000;
/** Runs take so much less or more than the usual one, at most. */
const spread = 0.2;
/** A source that works says so now and then, lest it be taken for one that hangs. */
const signOfLifeMs = 10_000;
const columns: readonly Column[] = [
  { name: 'job', type: 'text' },
  { name: 'version', type: 'integer' },
];

/**
 * What a job reads in a simulation: nothing of its source is asked. One row represents all that it would give, and as it
 * has other columns, neither transforms nor keys apply to it.
 */
export function madeUpExtract(
  job: Job,
  { write: _, ...extract }: Extract,
  given: { clock: VirtualClock; habits: Habits },
): Extract {
  const source = { name: extract.source.name, options: {}, connector: madeUpConnector(job.name, given) };
  return { ...extract, source, query: {}, transforms: [] };
}

function madeUpConnector(
  job: string,
  { clock, habits: { seed, failures, past, changes, away } }: { clock: VirtualClock; habits: Habits },
): Connector {
  const known = past.get(job);
  const changed = changes ?? known?.changed ?? 1;
  let run = 0;
  let version = 0;
  return {
    id: 'made-up',
    title: 'Made up',
    summary: 'Simulates the sources.',
    source: {},
    query: {},
    check: async () => 'there is nothing to check',
    async extract({ signal, alive }) {
      run += 1;
      const usual = known?.milliseconds ?? usualMs;
      // Never the same twice, so that no two runs end at the very same instant.
      const end = clock.monotonic() + 1 + usual * (1 - spread + 2 * spread * luckOf(seed, 'takes', job, run));
      for (let left = end - clock.monotonic(); left > 0; left = end - clock.monotonic()) {
        await clock.sleep(Math.min(left, signOfLifeMs), signal);
        alive?.();
      }
      const now = clock.now();
      const isAway = away !== undefined && now >= away.from && now < away.until;
      if (isAway || luckOf(seed, 'fails', job, run) < failures) throw sourceFailed();
      if (version === 0 || luckOf(seed, 'changes', job, run) < changed) version += 1;
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
    message: 'The source failed, as it was told to',
  });
}
