import { configDefaults, defineConfig } from 'vitest/config';
import base from '../base.config.ts';

/** `npm run test:packages`: installs what `npm run package` makes in a Debian that systemd has booted. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/packages/*.test.ts'],
    exclude: [...configDefaults.exclude],
    // Both files build the package into dist/.
    fileParallelism: false,
    hookTimeout: 1_800_000,
    testTimeout: 1_800_000,
  },
});
