// The door for every way of starting Sluice. Plain JavaScript that an old Node can still parse, so that it can say
// what is wrong instead of failing on syntax. In a checkout it runs the sources; in the package, dist/.
import { closeSync, existsSync, openSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** As `engines` in package.json. Older ones cut texts from SQLite at a NUL character, without an error. */
function isSupported(version) {
  const [major, minor] = version.split('.').map(Number);
  return major === 24 ? minor >= 16 : major === 26 ? minor >= 1 : major > 26;
}

/**
 * Compiled code is kept between starts, which halves the time to the first row. In a folder of the user's own: code
 * that is run must not come from where others can write. Where it cannot be kept, Node goes on without.
 */
function keepCompiledCode() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  nodeModule.enableCompileCache(join(cache, 'sluice', 'compiled'));
}

/** What a run has open at most, with a few to spare, beside the twenty files that Node has open by now. */
const neededFiles = 40;

/** Tried, not read from the limit: files that the starter of this process left open count, too. */
function lacksFiles() {
  const opened = [];
  try {
    while (opened.length < neededFiles) opened.push(openSync('/dev/null', 'r'));
    return false;
  } catch (error) {
    return error.code === 'EMFILE';
  } finally {
    for (const file of opened) closeSync(file);
  }
}

const source = new URL('./main.ts', import.meta.url);
const isCheckout = existsSync(source);

if (lacksFiles()) {
  process.stderr.write(
    'OPEN_FILES_LIMIT: This process may open too few files\n  allowed  64 or more; 1024 for a daemon\n  next     raise the limit: ulimit -n 1024, LimitNOFILE=1024 in a unit, --ulimit nofile=1024 of a container\n',
  );
  process.exitCode = 2;
} else if (isSupported(process.versions.node)) {
  keepCompiledCode();
  await import(isCheckout ? source.href : new URL('../../dist/src/cli/main.js', import.meta.url).href);
} else {
  const page = fileURLToPath(new URL('../../docs/operate.md', import.meta.url));
  const next = isCheckout
    ? '"npm ci --ignore-scripts" brings Node 24 along; then start Sluice by "npx sluice" or "npm run"'
    : `install Node 24: ${page}, "Node on a server"; or install Sluice again without --omit=optional, which brings Node 24 along`;
  process.stderr.write(
    `sluice: this Node is too old: ${process.version}, ${process.execPath}\n  allowed  Node 24 from 24.16, Node 26 from 26.1, or newer\n  next     ${next}\n`,
  );
  process.exitCode = 70;
}
