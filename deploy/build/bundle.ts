import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { missingPackages, packageOf } from './bare-imports.ts';
import { bundledPackages, noticesOf } from './notices.ts';
import { stampOf } from './stamp.ts';
import { filesOfRefresh, filesOfSync } from './trained-run.ts';

/**
 * The last step of `npm run build`: bundles the sources and their packages into a few dozen files in dist/. Short
 * commands spend most of their time finding and linking small files. With bundles, `sync` of one small job starts in
 * two thirds of the time. Files that are loaded by name at run time (commands, connectors, resources, migrations, the
 * SDK) keep their paths.
 */
const root = join(import.meta.dirname, '../..');
/** The output folder: either the first argument or dist/. */
const dist = resolve(process.argv[2] ?? join(root, 'dist'));

/**
 * Files that aren't merged with others. The first file runs the command line when it's loaded; the second file is
 * loaded in parallel with others.
 */
const apart = ['src/cli/main.js', 'src/lib/temporal-polyfill.js'];

/**
 * Entries that share no files with the rest, because they need little of its code. The first entry contains all that
 * `sync` loads if a daemon runs its jobs, the second is the thread that monitors the event loop, and the
 * others are the child processes that read SQLite and DuckDB.
 */
const alone = [
  'src/cli/hand-over/client',
  'src/daemon/loop-watch/watch-worker',
  'connectors/db/sqlite-child',
  'connectors/db/duckdb-child',
] as const;

interface Manifest {
  readonly version: string;
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly knip: { readonly entry: readonly string[] };
}

/**
 * Packages that aren't bundled: the `dependencies`, which are loaded by name on first use. All others are
 * `devDependencies`, because the bundle contains them. `pg` loads `pg-native` only if a user installed it.
 */
const isApart = ({ dependencies }: Manifest, name: string): boolean => name in dependencies || name === 'pg-native';

/** Files that are imported by a computed name. The check for unused files uses the same list. */
async function findEntries({ imports, knip }: Manifest): Promise<Record<string, string>> {
  const patterns = [...knip.entry.filter((pattern) => /^(src|connectors)\//.test(pattern)), ...Object.values(imports)];
  const files: string[] = [];
  for await (const file of glob(patterns, { cwd: root })) files.push(file);
  return Object.fromEntries(files.map((file) => [withoutEnding(file), join(root, file)]));
}

const withoutEnding = (file: string): string => file.replace(/\.ts$/, '').split(sep).join('/');

/**
 * Code uses `import.meta` to find files next to it, so a module in a bundled file must still see its original location.
 * Markers are inserted when the modules are read, and they are replaced when each module's output file is known. The
 * output file is a CommonJS module, which has no `import.meta`.
 */
const places: Plugin = {
  name: 'places',
  transform(code, id) {
    if (!code.includes('import.meta.') || id.includes('node_modules') || !id.endsWith('.ts')) return undefined;
    const place = `${withoutEnding(relative(root, id))}.js`;
    return code
      .replaceAll('import.meta.url', `placeInDist(${JSON.stringify(place)}).href`)
      .replaceAll('import.meta.dirname', `folderInDist(${JSON.stringify(dirname(place))})`);
  },
  renderChunk(code, { fileName }) {
    return code.replaceAll(/(place|folder)InDist\("([^"]+)"\)/g, (_, kind: string, place: string) => {
      const path = relative(dirname(fileName), place).split(sep).join('/');
      const found = `require("node:path").join(__dirname,${JSON.stringify(path)})`;
      return kind === 'folder' ? found : `require("node:url").pathToFileURL(${found})`;
    });
  },
};

/**
 * None of the HTTP clients uses HTTP/2 (`allowH2: false`). Without this plugin, the first request would still load
 * Node's HTTP/2 module.
 */
const withoutHttp2: Plugin = {
  name: 'without-http2',
  load: (id) => (id.endsWith('/undici/lib/dispatcher/client-h2.js') ? 'module.exports = undefined;' : undefined),
};

/**
 * ssh2 looks for modules that its installation may have compiled, and works without them. An installation of Sluice
 * compiles nothing, so the bundle doesn't look for them.
 */
const withoutNativeSsh: Plugin = {
  name: 'without-native-ssh',
  resolveId: (id) => (id === 'cpu-features' || id.endsWith('/sshcrypto.node') ? '\0not-compiled' : undefined),
  load: (id) => (id === '\0not-compiled' ? "throw new Error('not compiled'); module.exports = {};" : undefined),
};

const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
const bundleOf = (input: Record<string, string>) =>
  rolldown({
    input,
    platform: 'node',
    external: (id) => isApart(manifest, packageOf(id) ?? ''),
    resolve: {
      alias: Object.fromEntries(Object.entries(manifest.imports).map(([door, file]) => [door, join(root, file)])),
    },
    plugins: [places, withoutHttp2, withoutNativeSsh],
  });

const entries = await findEntries(manifest);
const shared = Object.entries(entries).filter(([name]) => !alone.some((one) => one === name));
const bundle = await bundleOf(Object.fromEntries(shared));

type Chunk = Pick<OutputChunk, 'fileName' | 'moduleIds' | 'code'>;

/** The modules to write to each built file, by file name. */
type Groups = Readonly<Record<string, ReadonlySet<string>>>;

/** Writes the built files to a folder. Each group of modules is written to one file. */
async function write(dir: string, groups: Groups = {}, made = bundle): Promise<Chunk[]> {
  const { output } = await made.write({
    dir,
    format: 'cjs',
    exports: 'named',
    // Minification halves the size. Functions, classes and modules keep their names, so that stack traces are readable.
    minify: {
      compress: false,
      mangle: { toplevel: false, keepNames: { function: true, class: true } },
      codegen: { removeWhitespace: true },
    },
    codeSplitting: { groups: Object.entries(groups).map(([name, ids]) => ({ name, test: (id) => ids.has(id) })) },
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) => `chunks/${basename(name)}-[hash].js`,
  });
  // The folder has its own package.json, so that `#sdk` and `#sdk/testing` resolve to built files.
  const doors = Object.entries(manifest.imports).map(([door, file]) => [door, `${withoutEnding(file)}.js`]);
  const scope = { type: 'commonjs', imports: Object.fromEntries(doors) };
  await writeFile(join(dir, 'package.json'), `${JSON.stringify(scope, undefined, 2)}\n`);
  const files = output.filter((file) => file.type === 'chunk');
  return Promise.all(
    files.map(async ({ fileName, moduleIds, code }) => {
      const ascii = toAscii(code);
      if (ascii !== code) await writeFile(join(dir, fileName), ascii);
      return { fileName, moduleIds, code: ascii };
    }),
  );
}

/** Non-ASCII characters in a tagged template can't be escaped, because the tag function may read the raw text. */
const taggedText = /\braw`[^`]*[^\0-\x7f]/;

/**
 * Escapes non-ASCII characters. If a file contains any, Node stores it with two bytes per character, which makes it
 * load more slowly.
 */
function toAscii(code: string): string {
  if (taggedText.test(code)) return code;
  return code.replaceAll(/(?<!\\)[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * The modules that every `sync` loads. They load faster from two files than from dozens. The first file contains the
 * modules that are also needed by a process that only reads a source.
 */
async function findHotModules(): Promise<Groups> {
  const split = await mkdtemp(join(dirname(dist), '.sluice-split-'));
  try {
    const files = (await write(split)).filter(({ fileName }) => !apart.includes(fileName));
    const modulesIn = (loaded: readonly string[]): Set<string> =>
      new Set(files.filter(({ fileName }) => loaded.includes(join(split, fileName))).flatMap((file) => file.moduleIds));
    const hot = modulesIn(await filesOfSync(split));
    const reading = modulesIn(await filesOfRefresh(split)).intersection(hot);
    return { 'hot-read': reading, hot: hot.difference(reading) };
  } finally {
    await rm(split, { recursive: true });
  }
}

const chunks = await write(dist, await findHotModules());
for (const name of alone) chunks.push(...(await write(dist, undefined, await bundleOf({ [name]: entries[name]! }))));
const packages = await bundledPackages(chunks.flatMap(({ moduleIds }) => moduleIds));
await writeFile(join(dist, 'NOTICES.md'), noticesOf(packages));
const named = packages.map(({ name, version, license }) => ({ name, version, license }));
await writeFile(join(dist, 'packages.json'), `${JSON.stringify(named)}\n`);

const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
const missing = missingPackages(chunks, installed);
if (missing.length > 0) {
  throw new Error(
    `The package would be missing ${missing.join(', ')}. Load each module with import(), which bundles it, or move it to "dependencies".`,
  );
}

const stamp = await stampOf({ root, version: manifest.version, files: chunks, env: process.env });
await writeFile(join(dist, 'build.json'), `${JSON.stringify(stamp)}\n`);
