import { configDefaults, defineConfig } from 'vitest/config';
import base from '../../base.config.ts';

/**
 * What users have: the packed tarball, packed once and installed once in an empty folder, under each supported Node.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/package/installed/*.test.ts'],
    exclude: [...configDefaults.exclude],
    globalSetup: [...base.test!.globalSetup!, 'test/package/installed/install.ts'],
  },
});
