#!/usr/bin/env node
// The door for every way of starting Sluice. Plain JavaScript that an old Node can still parse, so that it can say in
// one line what is wrong instead of failing on syntax. In a checkout it runs the sources; in the package, dist/.
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

const wanted = 26;

/**
 * Compiled code is kept between starts, which halves the time to the first row. In a folder of the user's own: code
 * that is run must not come from where others can write. Where it cannot be kept, Node goes on without.
 */
function keepCompiledCode() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  nodeModule.enableCompileCache(join(cache, 'sluice', 'compiled'));
}

if (Number(process.versions.node.split('.')[0]) < wanted) {
  process.stderr.write(
    `sluice needs Node ${wanted} or newer and was started by ${process.version}; in a checkout, run "npm ci" and then "npx sluice".\n`,
  );
  process.exitCode = 70;
} else {
  keepCompiledCode();
  const source = new URL('./main.ts', import.meta.url);
  await import(existsSync(source) ? source.href : new URL('../../dist/src/cli/main.js', import.meta.url).href);
}
