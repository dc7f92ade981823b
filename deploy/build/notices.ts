import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The bundled packages with their licenses, as those licenses require. Takes module paths. */
export async function noticesOf(modules: readonly string[]): Promise<string> {
  const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined));
  const notices = await Promise.all([...folders].sort().map(noticeOf));
  return `# Packages inside these files\n\n${notices.join('\n')}`;
}

function packageFolder(module: string): string | undefined {
  return /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(module.replace(/^\0+/, '').replace(/\?.*$/, ''))?.[0];
}

async function noticeOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const file = (await readdir(folder)).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file === undefined ? '' : (await readFile(join(folder, file), 'utf8')).trim();
  return `## ${name} ${version}\n\n${license}\n\n${text}\n`;
}
