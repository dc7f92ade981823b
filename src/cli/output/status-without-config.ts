import { resolve } from 'node:path';
import type { StatusWithoutConfig } from '../../daemon/report/report-without-config.ts';
import type { Problem } from '../../lib/problem.ts';
import { showProblems } from '../config-file.ts';
import { daemonText, processLines } from './daemon-text.ts';
import { instantText } from './format.ts';
import { jsonOutput, problemJson } from './json-output.ts';
import { toneOf } from './paint.ts';
import { renderTable } from './table.ts';

/**
 * Shows the errors in a config that can't be used, and returns a report of what its state contains. Throws if the
 * state's location is unknown too.
 */
export async function statusWithoutConfig(
  file: string,
  { faults, json }: { readonly faults: readonly Problem[]; readonly json: boolean },
): Promise<string> {
  const [{ findStateLocation }, { openExistingStore }, { reportWithoutConfig }, { systemClock }] = await Promise.all([
    import('../state-location.ts'),
    import('../../state/open-existing-store.ts'),
    import('../../daemon/report/report-without-config.ts'),
    import('../../lib/clock.ts'),
  ]);
  const location = await findStateLocation(file).catch((thrown: unknown) => {
    showProblems(faults.filter(({ message }) => message !== (thrown as Error).message));
    throw thrown;
  });
  showProblems(faults);
  const store = await openExistingStore(location);
  try {
    const clock = store?.clock ?? systemClock;
    const status = await reportWithoutConfig(resolve(file), store, clock);
    return json ? jsonOutput({ faults: faults.map(problemJson), ...status }) : textOf(status, clock.now());
  } finally {
    await store?.close();
  }
}

function textOf(status: StatusWithoutConfig, now: number): string {
  const { daemon, jobs, unwritable } = status;
  const columns = [
    { title: 'job' },
    { title: 'state', tone: toneOf },
    { title: 'last run' },
    { title: 'next firing' },
    { title: 'last problem' },
  ];
  const table = renderTable(columns, jobs.map(rowOf), { widest: 70, paper: process.stdout });
  return [
    daemonText(daemon),
    '',
    ...(jobs.length === 0 ? [] : [table, '']),
    ...processLines(status, now),
    ...(unwritable === undefined ? [] : [unwritable.message]),
    'The config cannot be loaded, so this report contains only what the state says.',
  ].join('\n');
}

function rowOf({ job, state, last_run, next_firing_at: next, owed }: StatusWithoutConfig['jobs'][number]): string[] {
  return [
    job,
    state,
    last_run === undefined ? '–' : instantText(last_run.started_at),
    next === undefined ? '–' : instantText(next),
    owed[0]?.message ?? last_run?.message ?? '',
  ];
}
