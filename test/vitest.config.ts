import { configDefaults, defineConfig } from 'vitest/config';
import base from './base.config.ts';

/** Tests that measure the memory of their own process, or spend their time in processes that they start. */
const isolated = ['test/**/*memory*.test.ts', 'test/{chaos,compare,fuzz,journey}/**/*.test.ts'];
// `npm run test:servers`, `test:package` and `test:systemd` run these.
const others = [...configDefaults.exclude, 'test/real/**', 'test/package/installed/**', 'test/systemd/**'];

/** `npm test`. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    // Loading all modules again for each file takes a quarter of the CPU time of tests that start no process.
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: [...others, ...isolated], isolate: false },
      },
      { extends: true, test: { name: 'isolated', include: isolated, exclude: others } },
    ],
  },
});
