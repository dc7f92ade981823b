import { readFile } from 'node:fs/promises';

type Locked = Readonly<Record<string, { readonly dev?: true; readonly optional?: true; readonly peer?: true }>>;

/** The packages that the bundle excludes, with their required dependencies: what an installation downloads. */
export async function packagesNeeded(): Promise<string[]> {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Locked };
  const needed = Object.entries(packages).filter(
    ([path, { dev, optional, peer }]) => path !== '' && !(dev || optional || peer),
  );
  return needed.map(([path]) => path.replace('node_modules/', '')).sort();
}
