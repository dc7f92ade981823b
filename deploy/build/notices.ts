import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A package that the bundle contains. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Its license text. */
  readonly text: string;
}

/** The names of the packages that contain these module paths. */
export async function bundledPackages(modules: readonly string[]): Promise<BundledPackage[]> {
  const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined));
  return Promise.all([...folders].sort().map(readPackage));
}

/**
 * The packages with their license texts, which the licenses require Sluice to include. A license text that several
 * packages share is included once.
 */
export function noticesOf(packages: readonly BundledPackage[]): string {
  const sharing = Map.groupBy(packages, ({ license, text }) => `${license}\n\n${text}`);
  const notices = [...sharing].map(([text, same]) => {
    const headings = same.map(({ name, version }) => `## ${name} ${version}\n`);
    return `${headings.join('')}\n${text}\n`;
  });
  return `# Packages inside these files\n\n${notices.join('\n')}`;
}

function packageFolder(module: string): string | undefined {
  return /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(module.replace(/^\0+/, '').replace(/\?.*$/, ''))?.[0];
}

async function readPackage(folder: string): Promise<BundledPackage> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Omit<BundledPackage, 'text'>;
  const file = (await readdir(folder)).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file === undefined ? '' : (await readFile(join(folder, file), 'utf8')).trim();
  return { ...manifest, text };
}
