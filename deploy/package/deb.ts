import { cp, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { architectures, type PackageOptions, readManifest } from './packages.ts';
import { normalize } from './stage.ts';
import { readScript, stageSystem, systemModes } from './system-tree.ts';
import { makeFolder, run } from './tools.ts';

const sources = join(import.meta.dirname, 'debian');
const maintainer = 'The authors of Sluice <sluice@localhost>';

/** Builds the Debian package and returns its file name. Packages from the same commit are always identical. */
export async function makeDeb({ into, revision, epochSeconds }: PackageOptions): Promise<string> {
  const { version, description } = await readManifest();
  const architecture = architectures[process.arch];
  if (architecture === undefined)
    throw new Error(`A .deb package can be built only on ${Object.keys(architectures)}, not on ${process.arch}`);
  const full = `${version}-${revision}`;
  await using folder = await makeFolder();
  const root = join(folder.path, 'root');
  await stageSystem(root, 'vendor-completions');
  await addDebianFiles(join(root, 'usr/share/doc/sluice'), changelogOf(full, epochSeconds));
  await normalize(root, epochSeconds, systemModes);
  const size = await installedSize(root);
  await addControl(join(root, 'DEBIAN'), controlOf({ full, architecture, size, description }));
  const file = `sluice_${full}_${architecture}.deb`;
  // zstd, which Debian has supported since version 12, needs a tenth of the time that xz needs. Only one thread is
  // used, because the number of threads affects the package's bytes.
  const flags = ['--root-owner-group', '-Zzstd', '-z12', '--threads-max=1'];
  await run('dpkg-deb', [...flags, '--build', root, join(into, file)], {
    env: { SOURCE_DATE_EPOCH: String(epochSeconds) },
  });
  return file;
}

/** Adds the files that Debian requires in the documentation folder. */
async function addDebianFiles(folder: string, changelog: string): Promise<void> {
  await cp(join(sources, 'copyright'), join(folder, 'copyright'));
  await writeFile(join(folder, 'changelog.Debian.gz'), gzipSync(changelog, { level: 9 }));
}

function changelogOf(full: string, epochSeconds: number): string {
  const date = new Date(epochSeconds * 1000).toUTCString().replace('GMT', '+0000');
  return `sluice (${full}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n`;
}

/**
 * The installed size in KiB, computed from file sizes as dpkg-gencontrol does. `du` isn't used, because its block
 * counts change while the file system is still writing.
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

/** The libraries that the bundled Node needs. A minimal Debian has them. */
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
    await writeFile(join(folder, script), await readScript(join(sources, script)), { mode: 0o755 });
  }
}
