import { configDefaults, defineConfig } from 'vitest/config';
import base from './base.config.ts';

/** Folders whose tests may share a process: they replace no module and measure neither memory nor open handles. */
const rooms = 'alerts,architecture,config,formats,guards,lib,oauth,schedule,sdk,transforms';
const shared = [`test/{${rooms}}/**/!(*memory*|*idle*).test.ts`];
// `npm run test:servers`, `test:package`, `test:packages` and `test:systemd` run these.
const others = [
  ...configDefaults.exclude,
  ...['test/real/**', 'test/package/installed/**', 'test/packages/**', 'test/systemd/**'],
];

/** `npm test`. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    // Loading all modules again for each file takes a quarter of the CPU time of tests that start no process.
    projects: [
      { extends: true, test: { name: 'shared', include: shared, exclude: others, isolate: false } },
      { extends: true, test: { name: 'isolated', include: ['test/**/*.test.ts'], exclude: [...others, ...shared] } },
    ],
  },
});
