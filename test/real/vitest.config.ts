import { configDefaults, defineConfig } from 'vitest/config';
import base from '../vitest.config.ts';

/** Tests against servers that a registry has and Debian has not; README.md of this folder says how one is added. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/real/**/*.test.ts'], exclude: [...configDefaults.exclude] },
});
