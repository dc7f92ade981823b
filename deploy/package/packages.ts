import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The checkout. Its dist/ folder must have been built. */
export const checkout = join(import.meta.dirname, '../..');

/** The name of the npm package that contains Node. */
export const nodePackage = `node-linux-${process.arch}`;

/** The names of the architecture in Debian and in container images. */
export const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Options for the functions that build a package for a Linux distribution. */
export interface PackageOptions {
  /** An existing folder to write the package to. */
  readonly into: string;
  /** The package's revision, which distinguishes packages of the same version. */
  readonly revision: string;
  readonly epochSeconds: number;
}

interface Manifest {
  readonly version: string;
  readonly description: string;
}

/** An entry of package-lock.json. */
export interface LockedPackage {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: true;
  readonly optional?: true;
  readonly peer?: true;
}

const readJson = async <T>(file: string): Promise<T> => JSON.parse(await readFile(join(checkout, file), 'utf8')) as T;

export const readManifest = (): Promise<Manifest> => readJson<Manifest>('package.json');

/** The packages in the lockfile by their folder, such as `node_modules/pino`. */
export async function readLock(): Promise<Readonly<Record<string, LockedPackage>>> {
  return (await readJson<{ packages: Record<string, LockedPackage> }>('package-lock.json')).packages;
}

/** A package that users get. */
export interface IncludedPackage {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** All packages that users receive: the packages in the bundle, the packages installed next to it, and Node. */
export async function includedPackages(): Promise<IncludedPackage[]> {
  const lock = await readLock();
  const beside = [...(await packagesNeeded()), nodePackage];
  return [
    ...(await readJson<IncludedPackage[]>('dist/packages.json')),
    ...beside.map((name) => ({ name, version: lock[`node_modules/${name}`]!.version })),
  ];
}

/**
 * The packages that aren't in the bundle, with their required dependencies. Apart from Node, an installation needs no
 * other packages.
 */
export async function packagesNeeded(): Promise<string[]> {
  const needed = Object.entries(await readLock()).filter(
    ([path, { dev, optional, peer }]) => path !== '' && !(dev || optional || peer),
  );
  return needed.map(([path]) => path.replace('node_modules/', '')).sort();
}
