// The entry point of Sluice. Plain JavaScript that an old Node can still parse, so that it can report its version
// instead of failing with a syntax error. In a checkout it runs the sources; in the package, dist/.

/** Same as `engines` in package.json. Older versions silently truncate SQLite texts at a NUL character. */
function isSupported(version) {
  const [major, minor] = version.split('.').map(Number);
  return major === 24 ? minor >= 16 : major === 26 ? minor >= 1 : major > 26;
}

/** Takes a few milliseconds less than `import`, which makes another module of each. */
const builtIn = (name) => process.getBuiltinModule(`node:${name}`);

/**
 * The user's cache folder, because code must not be executed from a place where others can write. It keeps compiled
 * code between starts, which halves the time to the first row. If it can't be used, the process continues without it.
 */
function cacheFolder() {
  const { join } = builtIn('path');
  return join(process.env.XDG_CACHE_HOME || join(builtIn('os').homedir(), '.cache'), 'sluice');
}

/** Maximum number of files that a run opens, with a few to spare, in addition to Node's twenty. */
const neededFiles = 40;

/** Tests by opening files, because inherited open files count against the limit too. */
function lacksFiles() {
  const { closeSync, openSync } = builtIn('fs');
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

async function runSources() {
  const { enableCompileCache } = builtIn('module');
  enableCompileCache(builtIn('path').join(cacheFolder(), 'compiled'));
  await (await import(source.href)).ended;
}

/**
 * Built files are CommonJS modules, which start faster. A running daemon may do the work of `sync` before most of them
 * are loaded. Not in a checkout, whose sources may be newer than the daemon.
 */
async function runBuilt([command, ...words]) {
  const require = builtIn('module').createRequire(import.meta.url);
  if (command === 'sync' && (await require('../../dist/src/cli/hand-over/client.js').handOver(words))) return;
  await require('../../dist/src/cli/start-built.js').startBuilt(cacheFolder());
}

/** The same words as `Problem`, which may be among the missing files. */
function reportIncomplete(error) {
  if (error.code !== 'MODULE_NOT_FOUND') throw error;
  process.stderr.write(
    `INSTALLATION_INCOMPLETE: The installation of Sluice is incomplete: ${error.message.split('\n')[0]}\n  next     reinstall the package, then restart the daemon; if the error persists, report it as a bug\n`,
  );
  process.exitCode = 70;
}

async function reportOldNode() {
  const [{ existsSync }, { fileURLToPath }] = await Promise.all([import('node:fs'), import('node:url')]);
  const page = fileURLToPath(new URL('../../docs/operate.md', import.meta.url));
  const next = existsSync(source)
    ? '"npm ci --ignore-scripts" also installs Node 24; then start Sluice with "npx sluice" or "npm run"'
    : `install Node 24: ${page}, "Node on a server"; or install Sluice again without --omit=optional, which includes Node 24`;
  process.stderr.write(
    `sluice: this Node is too old: ${process.version}, ${process.execPath}\n  allowed  Node 24 from 24.16, Node 26 from 26.1, or newer\n  next     ${next}\n`,
  );
  process.exitCode = 70;
}

if (!isSupported(process.versions.node)) {
  await reportOldNode();
} else if (lacksFiles()) {
  process.stderr.write(
    'OPEN_FILES_LIMIT: The limit of open files of this process is too low\n  allowed  64 or more; 1024 for a daemon\n  next     raise the limit: ulimit -n 1024, LimitNOFILE=1024 in a unit, --ulimit nofile=1024 of a container\n',
  );
  process.exitCode = 2;
} else if (builtIn('fs').existsSync(source)) {
  await runSources();
} else {
  await runBuilt(process.argv.slice(2)).catch(reportIncomplete);
}
