import { afterEach, expect, it } from 'vitest';
import { reportPlan } from '../../../src/daemon/plan/report-plan.ts';
import { closeStages, openStage, say } from '../../delivery/fixtures.ts';
import { makeFolder, until } from '../../journey/process.ts';
import { configOf, destinationOf, jobOf, overdue, Source, startDaemon } from '../rig.ts';

afterEach(closeStages);

/** More jobs than could run concurrently if they read rows. */
const count = 9;

it("refresh jobs that are due together cost one request, and each reports its own data sources' result", async () => {
  const stage = await openStage();
  const invalid_datasources = { 'source-4': { error: 'Data source not found', status: 404, success: false } };
  const data = { success: true, total_instances_queued: 8, failed_results: { description: '', invalid_datasources } };
  stage.otherwise = say(200, { data });
  const destination = destinationOf(stage.url);
  const jobs = Array.from({ length: count }, (_, i) => {
    const { extract: _extract, ...rest } = jobOf({ name: `job-${i}`, destination, instance: '', source: new Source() });
    return { ...rest, target: { kind: 'refresh' as const, datasources: [`source-${i}`, 'shared'] } };
  });
  const { runtime, count: counted } = await startDaemon(configOf(await makeFolder(), jobs), {
    before: overdue(...jobs),
  });
  await until('all runs to finish', () => counted('run.finished') === count);
  expect(stage.seen).toHaveLength(1);
  const { datasources } = JSON.parse(stage.seen[0]!.body) as { datasources: string[] };
  expect(datasources.toSorted()).toEqual(['shared', ...jobs.map((_, i) => `source-${i}`)]);
  const runs = await runtime.store.runs.history({ limit: 100 });
  expect(runs.filter(({ state }) => state === 'refreshed')).toHaveLength(count - 1);
  expect(runs.filter(({ state }) => state === 'failed')).toMatchObject([{ job: 'job-4', code: 'REFRESH_PARTIAL' }]);
  expect(runs.reduce((sum, { requests }) => sum + requests, 0)).toBe(1);
  const { store, clock } = runtime;
  const plan = await reportPlan({
    config: configOf('/', jobs),
    store,
    now: clock.now(),
    until: clock.now() + 86_400_000,
  });
  const guessed = new Set(plan.accounts.flatMap((account) => account.guessed));
  expect(guessed, 'known, though most were charged nothing').toEqual(new Set(['job-4']));
});
