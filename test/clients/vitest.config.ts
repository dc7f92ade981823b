import { configDefaults, defineConfig } from 'vitest/config';
import base from '../base.config.ts';

/** Tests with clients that generators from registries make of the OpenAPI document. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ['test/clients/**/*.test.ts'], exclude: [...configDefaults.exclude] },
});
