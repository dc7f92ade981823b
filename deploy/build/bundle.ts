import { glob, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { missingPackages, packageOf } from './bare-imports.ts';
import { bundledPackages, noticesOf } from './notices.ts';
import { stampOf } from './stamp.ts';

/**
 * The last step of `npm run build`: bundles the sources and their packages into a few dozen files in dist/. Short commands spend
 * most of their time finding and linking small files; bundled, `sync` of one small job starts in two thirds of the time. Files
 * that are found by name at run time (commands, connectors, resources, migrations, the SDK) keep their paths.
 */
const root = join(import.meta.dirname, '../..');
/** Output folder: the first argument, or dist/. */
const dist = resolve(process.argv[2] ?? join(root, 'dist'));

interface Manifest {
  readonly version: string;
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly knip: { readonly entry: readonly string[] };
}

/**
 * Packages that aren't bundled: `dependencies`, which can't be moved to another file (native code, and packages that use a late
 * `require`). All others are `devDependencies`, because the bundle contains them. `pg` loads `pg-native` only if a user
 * installed it.
 */
const isApart = ({ dependencies }: Manifest, name: string): boolean => name in dependencies || name === 'pg-native';

/** Files that are imported by a computed name; the check for unused files uses the same list. */
async function findEntries({ imports, knip }: Manifest): Promise<Record<string, string>> {
  const patterns = [...knip.entry.filter((pattern) => /^(src|connectors)\//.test(pattern)), ...Object.values(imports)];
  const files: string[] = [];
  for await (const file of glob(patterns, { cwd: root })) files.push(file);
  return Object.fromEntries(files.map((file) => [withoutEnding(file), join(root, file)]));
}

const withoutEnding = (file: string): string => file.replace(/\.ts$/, '').split(sep).join('/');

/**
 * Code uses `import.meta` to find files next to it, so a module in a chunk must still see its original location. Marks are
 * inserted when modules are read, and resolved when each module's output file is known.
 */
const places: Plugin = {
  name: 'places',
  transform(code, id) {
    if (!code.includes('import.meta.') || id.includes('node_modules') || !id.endsWith('.ts')) return undefined;
    const place = `${withoutEnding(relative(root, id))}.js`;
    return code
      .replaceAll('import.meta.url', `import.meta.from(${JSON.stringify(place)}).href`)
      .replaceAll('import.meta.dirname', `import.meta.from(${JSON.stringify(dirname(place))}).pathname`);
  },
  renderChunk(code, { fileName }) {
    return code.replaceAll(/import\.meta\.from\("([^"]+)"\)/g, (_, place: string) => {
      const path = relative(dirname(fileName), place).split(sep).join('/');
      return `new URL(${JSON.stringify(path.startsWith('.') ? path : `./${path}`)}, import.meta.url)`;
    });
  },
};

const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
const bundle = await rolldown({
  input: await findEntries(manifest),
  platform: 'node',
  external: (id) => isApart(manifest, packageOf(id) ?? ''),
  resolve: {
    alias: Object.fromEntries(Object.entries(manifest.imports).map(([door, file]) => [door, join(root, file)])),
  },
  plugins: [places],
});
const { output } = await bundle.write({
  dir: dist,
  format: 'esm',
  // Half of the size. Names of functions, classes and modules stay, so that a stack trace can be read.
  minify: {
    compress: false,
    mangle: { toplevel: false, keepNames: { function: true, class: true } },
    codegen: { removeWhitespace: true },
  },
  entryFileNames: '[name].js',
  chunkFileNames: ({ name }) => `chunks/${basename(name)}-[hash].js`,
});
const chunks = output.filter((file) => file.type === 'chunk');
const packages = await bundledPackages(chunks.flatMap(({ moduleIds }) => moduleIds));
await writeFile(join(dist, 'NOTICES.md'), noticesOf(packages));
const named = packages.map(({ name, version, license }) => ({ name, version, license }));
await writeFile(join(dist, 'packages.json'), `${JSON.stringify(named)}\n`);

const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
const missing = missingPackages(chunks, installed);
if (missing.length > 0) {
  throw new Error(
    `The package would lack: ${missing.join(', ')}. Load it with import(), which bundles it, or move it to "dependencies".`,
  );
}

const stamp = await stampOf({ root, version: manifest.version, files: chunks, env: process.env });
await writeFile(join(dist, 'build.json'), `${JSON.stringify(stamp)}\n`);

/** dist/ has its own package.json, so that `#sdk` and `#sdk/testing` resolve to built files. */
const doors = Object.entries(manifest.imports).map(([door, file]) => [door, `${withoutEnding(file)}.js`]);
const scope = { type: 'module', imports: Object.fromEntries(doors) };
await writeFile(join(dist, 'package.json'), `${JSON.stringify(scope, undefined, 2)}\n`);
