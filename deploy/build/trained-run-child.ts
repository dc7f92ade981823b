import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * A child process of `trained-run.ts`. Loads an entry of the built package, which may run a command, and sends the
 * paths of the loaded files to the parent. Its arguments are the folder of the built files, the entry, and the
 * command's arguments.
 */
const [dist, entry, ...args] = process.argv.slice(2);
const require = createRequire(import.meta.url);
process.argv.splice(2, process.argv.length, ...args);
await (require(join(dist!, entry!)) as Partial<typeof import('../../src/cli/main.ts')>).ended;
process.send?.(Object.keys(require.cache), () => process.disconnect?.());
