import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { npm } from './npm.ts';

/** A Node that the package is tested with. */
export interface TestedNode {
  readonly major: number | 'of the image';
  /** The program. */
  readonly path: string;
  /** Connectors whose servers can't run with this Node. */
  readonly without?: readonly string[];
}

/** The version tested of each major version that Sluice supports. They come from npm, like the package's own. */
const versions: Readonly<Record<number, string>> = { 24: '24.21.0', 26: '26.10.0' };

/** Installs a Node of each supported major version below `folder`. */
export async function installNodes(folder: string, root: string): Promise<TestedNode[]> {
  const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
  const oldest = Number(/\d+/.exec(engines.node)?.[0]);
  const name = `node-linux-${process.arch}`;
  const wanted = Object.entries(versions).filter(([major]) => Number(major) >= oldest);
  await npm([
    'install',
    '--prefix',
    folder,
    ...wanted.map(([major, version]) => `node${major}@npm:${name}@${version}`),
  ]);
  return wanted.map(([major]) => ({
    major: Number(major),
    path: join(folder, 'node_modules', `node${major}`, 'bin/node'),
  }));
}
