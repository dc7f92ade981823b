import { defineConfig } from 'vitest/config';
import base from './installed/vitest.config.ts';

/** `npm run test:image`: the installed package's tests that use its command line, in containers of the real image. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['commands', 'connectors', 'demo', 'formats'].map((name) => `test/package/installed/${name}.test.ts`),
    globalSetup: ['test/package/image.ts'],
  },
});
