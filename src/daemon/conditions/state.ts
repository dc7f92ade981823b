import type { Condition, Snapshot } from './condition.ts';

/** Reports that the state isn't writable, so no data can be fetched or recorded. */
export async function findUnwritable({ store, overview, jobs }: Snapshot): Promise<Condition[]> {
  // The daemon writes to the state all the time, so it doesn't need a separate write test.
  const isDaemon = overview.daemon?.owner === store.processes.self;
  const problem = isDaemon ? store.unwritable() : await store.probe();
  if (problem === undefined) return [];
  return [
    {
      subject: 'state',
      kind: 'state',
      level: 'error',
      since: overview.now,
      what: `the state is not writable: ${problem.message} (${problem.seen}); no jobs run and no data is sent until it is writable again`,
      jobs: jobs.map(({ name }) => name),
      code: problem.code,
      fix: problem.next,
    },
  ];
}
