import { defineConfig } from 'vitest/config';
import { LongFirst } from './long-first.ts';

const sdk = (file: string) => new URL(`../src/sdk/${file}`, import.meta.url).pathname;
const report = process.env.SLUICE_TEST_REPORT;

/** How all tests run. Servers are private to a test file and use free ports, so files run in parallel. */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  // What authors outside the package import; see src/config/catalog/load-plugin.ts.
  resolve: { alias: { 'sluice/sdk/testing': sdk('testing/index.ts'), 'sluice/sdk': sdk('index.ts') } },
  test: {
    pool: 'forks',
    // Node itself loads the files, as it does in production.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    globalSetup: ['test/left-behind.ts', 'test/run-folder.ts', 'test/journey/built.ts'],
    setupFiles: ['src/lib/temporal.ts', 'test/fresh-process.ts'],
    // More workers than cores, because many tests wait for timers or their own processes.
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    // Only a hang should reach this limit: an overloaded machine is up to twenty times slower than an idle one.
    testTimeout: 300_000,
    hookTimeout: 240_000,
    teardownTimeout: 20_000,
    expect: { poll: { timeout: 120_000 } },
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
});
