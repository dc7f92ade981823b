import { maxKeptRuns } from '../state/recover.ts';
import type { Runtime } from './wire.ts';

/** Looked at now and then: a daemon may go on for a year without the start that forgets what is old. */
const everyRuns = 1_000;

/** Lets the history not grow for ever while the daemon runs; answers how to stop. */
export function keepTidy({ events, store, log }: Pick<Runtime, 'events' | 'store' | 'log'>): () => void {
  let runs = 0;
  return events.listen((...[name]) => {
    if (name !== 'run.finished' || ++runs % everyRuns !== 0) return;
    store.runs
      .prune(maxKeptRuns)
      .catch((error: unknown) => log.error('old runs could not be forgotten', { error: String(error) }));
  });
}
