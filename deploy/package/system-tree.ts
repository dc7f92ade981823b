import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { checkout, nodePackage } from './packages.ts';
import { type Modes, stageInstallation, stageNode } from './stage.ts';
import { run } from './tools.ts';

const sources = join(import.meta.dirname, 'system');
const units = ['sluice.service', 'sluice-sync.service', 'sluice-sync.timer'];

/** The folders in which shells look for completions from packages. The folder for zsh depends on the distribution. */
const completions = {
  bash: 'bash-completion/completions/sluice',
  fish: 'fish/vendor_completions.d/sluice.fish',
};

/** Modes of the files that {@link stageSystem} writes. */
export const systemModes: Modes = {
  'usr/bin/sluice': 0o755,
  'usr/lib/sluice/src/cli/sluice': 0o755,
  [`usr/lib/sluice/node_modules/${nodePackage}/bin/node`]: 0o755,
  'etc/sluice/credentials': 0o700,
};

/**
 * Writes everything that the system packages install: Sluice and its own copy of Node, the command, systemd units, a
 * config, manual pages and completions.
 */
export async function stageSystem(root: string, zshFolder: string): Promise<void> {
  const installation = join(root, 'usr/lib/sluice');
  await stageInstallation(installation);
  await stageNode(installation);
  await addSystemFiles(root);
  for (const [shell, path] of Object.entries({ ...completions, zsh: `zsh/${zshFolder}/_sluice` })) {
    await put(root, `usr/share/${path}`, await completionOf(installation, shell));
  }
  await addManualPages(root);
  await addDocumentation(root);
}

/** Reads one of a package's scripts. Replaces its `#FUNCTIONS#` line with the functions that all scripts share. */
export async function readScript(file: string): Promise<string> {
  const [script, functions] = await Promise.all(
    [file, join(sources, 'functions.sh')].map((one) => readFile(one, 'utf8')),
  );
  return script!.replaceAll('#FUNCTIONS#\n', () => functions!);
}

async function put(root: string, path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}

async function addSystemFiles(root: string): Promise<void> {
  const folder = 'usr/lib/systemd/system';
  const user = await readFile(join(sources, 'user.conf'));
  for (const unit of units) {
    await put(root, `${folder}/${unit}`, await readFile(join(checkout, 'deploy/systemd', unit)));
    if (unit.endsWith('.service')) await put(root, `${folder}/${unit}.d/user.conf`, user);
  }
  await put(root, 'etc/sluice/sluice.yaml', await readFile(join(sources, 'sluice.yaml')));
  await mkdir(join(root, 'etc/sluice/credentials'));
  await put(root, 'usr/bin/sluice', await readFile(join(sources, 'sluice')));
}

const completionOf = async (installation: string, shell: string): Promise<string> =>
  `${await run(process.execPath, [join(installation, 'src/cli/sluice.js'), 'completion', shell])}\n`;

/** The manual pages, compressed as Debian requires. The compressed files contain no timestamps. */
async function addManualPages(root: string): Promise<void> {
  const pages = join(checkout, 'dist/man');
  for (const name of await readdir(pages)) {
    const content = gzipSync(await readFile(join(pages, name)), { level: 9 });
    await put(root, `usr/share/man/man${name.at(-1)}/${name}.gz`, content);
  }
}

async function addDocumentation(root: string): Promise<void> {
  const folder = join(root, 'usr/share/doc/sluice');
  await mkdir(folder, { recursive: true });
  await cp(join(checkout, 'README.md'), join(folder, 'README.md'));
  // Messages refer to these pages, so they aren't installed below usr/share/doc, which containers omit.
  await symlink('../../../lib/sluice/docs', join(folder, 'docs'));
  await symlink('../../../lib/sluice/CHANGELOG.md', join(folder, 'CHANGELOG.md'));
}
