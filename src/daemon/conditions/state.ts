import type { Condition, Snapshot } from './condition.ts';

/** A state that takes no writes: nothing can be fetched, and nothing that happens is recorded. */
export async function findUnwritable({ store, overview, jobs }: Snapshot): Promise<Condition[]> {
  // The daemon writes all the time and knows it without a try.
  const isDaemon = overview.daemon?.owner === store.processes.self;
  const problem = isDaemon ? store.unwritable() : await store.probe();
  if (problem === undefined) return [];
  return [
    {
      subject: 'state',
      kind: 'state',
      level: 'error',
      since: overview.now,
      what: `the state is not writable: ${problem.message} (${problem.seen}); nothing runs or is sent until it is`,
      jobs: jobs.map(({ name }) => name),
      code: problem.code,
      fix: problem.next,
    },
  ];
}
