import { configDefaults, defineConfig } from 'vitest/config';
import base from '../base.config.ts';

/**
 * `npm run test:systemd`: the packed package and the units, installed as docs/operate.md describes, in a Debian that
 * systemd has booted.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['test/systemd/*.test.ts'],
    exclude: [...configDefaults.exclude],
    hookTimeout: 600_000,
  },
});
