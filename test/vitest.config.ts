import { globSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import base from './base.config.ts';

/** Tests that replace a module, set up tracing, measure memory, or count what their process has open. */
const alone = [
  'test/**/{*memory*,*idle*,open-files,left-behind}.test.ts',
  'test/alerts/slow-channels.test.ts',
  'test/conformance/connectors.test.ts',
  'test/connectors/{db-mysql,db-postgres,db-sqlite,file}.test.ts',
  'test/connectors/service/answers.test.ts',
  'test/daemon/traces/*.test.ts',
  'test/formats/checkers.test.ts',
  'test/sdk/testing.test.ts',
  'test/service/{fetching,uploads}.test.ts',
];
/** Tests that drive a virtual clock, which waits while its process is busy: they share a process only with each other. */
const clocks = ['test/daemon/checks/source-checks.test.ts', 'test/{daemon/retry,simulate}/*.test.ts'];
/** Tests of the state that also run with a state on a PostgreSQL server. */
const states = [
  'test/state/{account-history,alert-records,fleet-runs,generations,locks,outbox,process-settings,quarantine,receipts,resends,retries,run-stats,runs,schedules,throttled-jobs,watermark-decisions,watermarks}.test.ts',
  'test/delivery/{deliver,deliver-attempts,pacing,processes,quota,resends,settle}.test.ts',
  'test/daemon/{daemon,alerting/alert-loop}.test.ts',
  'test/daemon/fleet/{fleet-queue,fleet-worker,resumed-firings}.test.ts',
  'test/daemon/firing/{clock,rules,scheduler}.test.ts',
  'test/daemon/retry/{plan-checks,retrier}.test.ts',
  'test/daemon/run/{guards,keep-rows,refreshes,sync-jobs}.test.ts',
  'test/alerts/{heartbeats,messenger}.test.ts',
  'test/oauth/{refresh-tokens,token-manager}.test.ts',
  'test/models/outbox.test.ts',
];
// Folders with a config of their own have an npm script of their own, such as `test:servers`.
const others = [
  ...configDefaults.exclude,
  ...globSync('test/*/**/vitest.config.ts', { cwd: resolve(import.meta.dirname, '..') }).map(
    (config) => `${dirname(config)}/**`,
  ),
];

/** `npm test`. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    globalSetup: ['test/memory-folder.ts', ...[base.test?.globalSetup ?? []].flat()],
    // Three per core, because files spend more than half of their time waiting for timers and their own processes.
    maxWorkers: 6,
    maxConcurrency: 12,
    // Starting a process and loading all modules again for each file takes a sixth of the CPU time of all tests.
    projects: [
      { extends: true, test: { name: 'isolated', include: alone, exclude: others } },
      { extends: true, test: { name: 'clocks', include: clocks, exclude: others, isolate: false } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: states,
          exclude: others,
          isolate: false,
          globalSetup: ['test/state/state-server.ts'],
          setupFiles: ['test/state/needs-server.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...others, ...alone, ...clocks],
          isolate: false,
        },
      },
    ],
  },
});
