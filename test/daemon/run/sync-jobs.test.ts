import { expect, it } from 'vitest';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { runJob } from '../../../src/daemon/run/run-job.ts';
import { syncJobs } from '../../../src/daemon/run/sync-jobs.ts';
import { makeFolder } from '../../journey/process.ts';
import { configOf, destinationOf, jobOf, openService, Source } from '../rig.ts';

it('jobs requested together start in order of importance, and are reported in the requested order', async () => {
  const service = await openService();
  const destination = destinationOf(service.url, { requestsPerDay: 2 });
  const source = new Source();
  const priorities = ['low', undefined, 'high', 'low', 'high'] as const;
  const jobs = await Promise.all(
    priorities.map(async (priority, i) => {
      const given = { name: `job-${i}`, destination, instance: await service.instance(), source };
      return jobOf({ ...given, ...(priority === undefined ? {} : { priority }) });
    }),
  );
  const config = { ...configOf(await makeFolder(), jobs), concurrency: 1 };
  const runtime = await composeRuntime({ config });
  const began: string[] = [];
  runtime.events.listen((...[name, facts]) => void (name === 'run.started' && began.push(facts.job)));
  const signal = new AbortController().signal;
  const outcomes = await syncJobs({ runtime, config, jobs, signal, patienceMs: 0 }).finally(() => runtime.close());
  expect(began).toEqual(['job-2', 'job-4', 'job-1', 'job-0', 'job-3']);
  expect(outcomes.map(({ job, state }) => [job, state])).toEqual([
    ['job-0', 'waiting_quota'],
    ['job-1', 'waiting_quota'],
    ['job-2', 'delivered'],
    ['job-3', 'waiting_quota'],
    ['job-4', 'delivered'],
  ]);
});

it("a removed job's owed payloads are sent by a sync of all jobs, but not by a sync of selected jobs", async () => {
  const service = await openService();
  const destination = destinationOf(service.url);
  const given = { destination, source: new Source() };
  const [gone, left] = [
    jobOf({ ...given, name: 'gone', instance: await service.instance() }),
    jobOf({ ...given, name: 'left', instance: await service.instance() }),
  ];
  const folder = await makeFolder();
  const before = await composeRuntime({ config: configOf(folder, [gone, left]) });
  const signal = new AbortController().signal;
  const run = { runtime: before, config: { folder }, job: gone, origin: 'person', signal } as const;
  expect(await runJob(run)).toMatchObject({ state: 'owed' });
  await before.close();
  const config = configOf(folder, [left]);
  const runtime = await composeRuntime({ config });
  const sync = (isAll: boolean) => syncJobs({ runtime, config, jobs: [left], isAll, signal, patienceMs: 0 });
  await sync(false);
  expect(await runtime.store.outbox.inState('owed')).toMatchObject([{ job: 'gone' }]);
  await sync(true);
  expect(await runtime.store.outbox.inState('owed')).toEqual([]);
  await runtime.close();
});
