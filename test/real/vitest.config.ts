import { configDefaults, defineConfig } from 'vitest/config';
import base from '../base.config.ts';

/** Tests against servers that are in a registry and not in Debian; README.md in this folder explains how to add one. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/real/**/*.test.ts'], exclude: [...configDefaults.exclude] },
});
