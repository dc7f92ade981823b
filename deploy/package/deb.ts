import { cp, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { architectures, checkout, nodePackage, readManifest } from './packages.ts';
import { normalize, stageInstallation, stageNode } from './stage.ts';
import { makeFolder, run } from './tools.ts';

export interface DebOptions {
  /** An existing folder for the package. */
  readonly into: string;
  /** The Debian revision, for another package with the same version. */
  readonly revision: string;
  readonly epochSeconds: number;
}

const sources = join(import.meta.dirname, 'debian');
const units = ['sluice.service', 'sluice-sync.service', 'sluice-sync.timer'];
const maintainer = 'The authors of Sluice <sluice@localhost>';

/** Builds the Debian package and returns its file name. The same commit always produces the same bytes. */
export async function makeDeb({ into, revision, epochSeconds }: DebOptions): Promise<string> {
  const { version, description } = await readManifest();
  const architecture = architectures[process.arch];
  if (architecture === undefined)
    throw new Error(`A .deb is made on ${Object.keys(architectures)}, not ${process.arch}`);
  const full = `${version}-${revision}`;
  await using folder = await makeFolder();
  const root = join(folder.path, 'root');
  const installation = join(root, 'usr/lib/sluice');
  await stageInstallation(installation);
  await stageNode(installation);
  await addSystemFiles(root);
  await addManualPages(root);
  await addDocumentation(root, changelogOf(full, epochSeconds));
  await normalize(root, epochSeconds, {
    'usr/lib/sluice/src/cli/sluice': 0o755,
    [`usr/lib/sluice/node_modules/${nodePackage}/bin/node`]: 0o755,
    'etc/sluice/credentials': 0o700,
  });
  const size = await installedSize(root);
  await addControl(join(root, 'DEBIAN'), controlOf({ full, architecture, size, description }));
  const file = `sluice_${full}_${architecture}.deb`;
  // zstd, because Debian has supported it since version 12, and it takes a tenth of the time of xz. One thread, because
  // the bytes depend on the number of threads.
  const flags = ['--root-owner-group', '-Zzstd', '-z12', '--threads-max=1'];
  await run('dpkg-deb', [...flags, '--build', root, join(into, file)], {
    env: { SOURCE_DATE_EPOCH: String(epochSeconds) },
  });
  return file;
}

async function addSystemFiles(root: string): Promise<void> {
  const put = async (from: string, to: string): Promise<void> => {
    await mkdir(dirname(join(root, to)), { recursive: true });
    await cp(from, join(root, to));
  };
  for (const unit of units) await put(join(checkout, 'deploy/systemd', unit), `usr/lib/systemd/system/${unit}`);
  for (const service of units.filter((unit) => unit.endsWith('.service'))) {
    await put(join(sources, 'user.conf'), `usr/lib/systemd/system/${service}.d/user.conf`);
  }
  await put(join(sources, 'sluice.yaml'), 'etc/sluice/sluice.yaml');
  await mkdir(join(root, 'etc/sluice/credentials'));
  await mkdir(join(root, 'usr/bin'));
  await symlink('../lib/sluice/src/cli/sluice', join(root, 'usr/bin/sluice'));
  await addCompletions(root);
}

/** Where each shell looks for packages' completions. */
const completions = {
  bash: 'usr/share/bash-completion/completions/sluice',
  zsh: 'usr/share/zsh/vendor-completions/_sluice',
  fish: 'usr/share/fish/vendor_completions.d/sluice.fish',
};

async function addCompletions(root: string): Promise<void> {
  for (const [shell, path] of Object.entries(completions)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    const program = join(root, 'usr/lib/sluice/src/cli/sluice.js');
    await writeFile(join(root, path), `${await run(process.execPath, [program, 'completion', shell])}\n`);
  }
}

/** The manual pages, compressed as Debian requires, without the time in the file. */
async function addManualPages(root: string): Promise<void> {
  const pages = join(checkout, 'dist/man');
  for (const name of await readdir(pages)) {
    const folder = join(root, `usr/share/man/man${name.at(-1)}`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${name}.gz`), gzipSync(await readFile(join(pages, name)), { level: 9 }));
  }
}

async function addDocumentation(root: string, changelog: string): Promise<void> {
  const folder = join(root, 'usr/share/doc/sluice');
  await mkdir(folder, { recursive: true });
  await cp(join(sources, 'copyright'), join(folder, 'copyright'));
  await cp(join(checkout, 'README.md'), join(folder, 'README.md'));
  await writeFile(join(folder, 'changelog.Debian.gz'), gzipSync(changelog, { level: 9 }));
  // Messages name these pages, so they aren't below usr/share/doc, which containers leave out.
  await symlink('../../../lib/sluice/docs', join(folder, 'docs'));
  await symlink('../../../lib/sluice/CHANGELOG.md', join(folder, 'CHANGELOG.md'));
}

function changelogOf(full: string, epochSeconds: number): string {
  const date = new Date(epochSeconds * 1000).toUTCString().replace('GMT', '+0000');
  return `sluice (${full}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n`;
}

/**
 * In KiB, as dpkg-gencontrol computes it: from the sizes of files, because the blocks that `du` counts change while the
 * file system still writes.
 */
async function installedSize(root: string): Promise<number> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    if (!entry.isFile()) return 1;
    return Math.ceil((await stat(join(entry.parentPath, entry.name))).size / 1024);
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

interface Control {
  readonly full: string;
  readonly architecture: string;
  /** In KiB. */
  readonly size: number;
  readonly description: string;
}

/** The libraries that the included Node needs; a minimal Debian has them. */
const controlOf = ({ full, architecture, size, description }: Control): string => `Package: sluice
Version: ${full}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${size}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8)
Section: net
Priority: optional
Description: data-push integration daemon for dashboards
 ${description}
`;

async function addControl(folder: string, control: string): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, 'control'), control);
  await writeFile(join(folder, 'conffiles'), '/etc/sluice/sluice.yaml\n');
  for (const script of ['postinst', 'prerm', 'postrm']) {
    await writeFile(join(folder, script), await readFile(join(sources, script)), { mode: 0o755 });
  }
}
