import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * Runs a command of the built package and sends the paths of the files that it loaded: a child process of
 * `trained-run.ts`. Its arguments are the folder of the built files and the command's arguments.
 */
const [dist, ...args] = process.argv.slice(2);
const require = createRequire(import.meta.url);
process.argv.splice(2, process.argv.length, ...args);
await (require(join(dist!, 'src/cli/main.js')) as typeof import('../../src/cli/main.ts')).ended;
process.send?.(Object.keys(require.cache), () => process.disconnect?.());
