import { glob, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { missingPackages, packageOf } from './bare-imports.ts';
import { noticesOf } from './notices.ts';
import { stampOf } from './stamp.ts';

/**
 * The last step of `npm run build`: the sources and the packages they need become a few dozen files in dist/. A short
 * command spends most of its time on finding and linking small files; bundled, `sync` of one small job starts in two
 * thirds of the time. What is found by name at run time (commands, connectors, resources, migrations, the SDK) stays a
 * file of its own under its own path.
 */
const root = join(import.meta.dirname, '../..');
/** Where the build goes: the first argument, or dist/. */
const dist = resolve(process.argv[2] ?? join(root, 'dist'));

interface Manifest {
  readonly version: string;
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly knip: { readonly entry: readonly string[] };
}

/**
 * Packages that stay out of the bundle: `dependencies`, which are those that cannot be moved into another file (native code, and
 * what is loaded by `require` when first needed). All others are `devDependencies`, as nobody needs them beside the
 * bundle. `pg-native` is asked for by `pg` and there only where a user has it.
 */
const isApart = ({ dependencies }: Manifest, name: string): boolean => name in dependencies || name === 'pg-native';

/** What is imported by a name that is made at run time; the list that the check for unused files goes by as well. */
async function findEntries({ imports, knip }: Manifest): Promise<Record<string, string>> {
  const patterns = [...knip.entry.filter((pattern) => /^(src|connectors)\//.test(pattern)), ...Object.values(imports)];
  const files: string[] = [];
  for await (const file of glob(patterns, { cwd: root })) files.push(file);
  return Object.fromEntries(files.map((file) => [withoutEnding(file), join(root, file)]));
}

const withoutEnding = (file: string): string => file.replace(/\.ts$/, '').split(sep).join('/');

/**
 * Code asks `import.meta` where it stands, to find its neighbours; a module that moved into a chunk must still be told
 * the place it came from. Marked while modules are read, resolved when it is known which file each one went to.
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
  entryFileNames: '[name].js',
  chunkFileNames: ({ name }) => `chunks/${basename(name)}-[hash].js`,
});
const chunks = output.filter((file) => file.type === 'chunk');
await writeFile(join(dist, 'NOTICES.md'), await noticesOf(chunks.flatMap(({ moduleIds }) => moduleIds)));

const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
const missing = missingPackages(chunks, installed);
if (missing.length > 0) {
  throw new Error(
    `The package would lack: ${missing.join(', ')}. Load it with import(), which bundles it, or move it to "dependencies".`,
  );
}

const stamp = await stampOf({ root, version: manifest.version, files: chunks, env: process.env });
await writeFile(join(dist, 'build.json'), `${JSON.stringify(stamp)}\n`);

/** dist/ has a package.json of its own, so that `#sdk` and `#sdk/testing` mean the built files there. */
const doors = Object.entries(manifest.imports).map(([door, file]) => [door, `${withoutEnding(file)}.js`]);
const scope = { type: 'module', imports: Object.fromEntries(doors) };
await writeFile(join(dist, 'package.json'), `${JSON.stringify(scope, undefined, 2)}\n`);
