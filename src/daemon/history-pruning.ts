import { maxKeptRuns } from '../state/recover.ts';
import type { Runtime } from './compose.ts';

/**
 * Interval between prunings. The history is also pruned at startup, but a daemon may run for a year without a restart.
 */
const everyRuns = 1_000;

/**
 * Prunes the history regularly while the daemon runs and `isPlanning` returns true. Returns a function that stops the
 * pruning.
 */
export function startHistoryPruning(
  { events, store, log }: Pick<Runtime, 'events' | 'store' | 'log'>,
  isPlanning: () => boolean = () => true,
): () => void {
  let runs = 0;
  return events.listen((...[name]) => {
    if (name !== 'run.finished' || ++runs % everyRuns !== 0 || !isPlanning()) return;
    store.runs
      .prune(maxKeptRuns)
      .catch((error: unknown) => log.error('failed to prune the history', { error: String(error) }));
  });
}
