import { configDefaults, defineConfig } from 'vitest/config';
import base from '../base.config.ts';

/**
 * Tests with servers that come from a registry because Debian doesn't have them. README.md in this folder explains how
 * to add one.
 */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/real/**/*.test.ts'], exclude: [...configDefaults.exclude] },
});
