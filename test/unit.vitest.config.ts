import { configDefaults, defineConfig } from 'vitest/config';
import base from './base.config.ts';

/** Folders whose tests start no server and don't wait for a disk. This is the only list for `npm run test:unit`. */
const rooms = ['architecture', 'compare', 'formats', 'guards', 'lib', 'schedule', 'transforms'];

/** Tests in these folders that start a process or a server, or that compute for longer than all others together. */
const others = [
  'calendar',
  'checkers',
  'command-line',
  'journal',
  'lingering-socket',
  'memory',
  'process-identity',
  'timer',
  'xml-checker',
];

/** `npm run test:unit`: what you run while you write code. `npm test` also runs these tests. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: rooms.map((room) => `test/${room}/**/*.test.ts`),
    exclude: [...configDefaults.exclude, ...others.map((name) => `test/**/${name}.test.ts`)],
    // These tests need no built package.
    globalSetup: ['test/run-folder.ts'],
    maxWorkers: 2,
    isolate: false,
  },
});
