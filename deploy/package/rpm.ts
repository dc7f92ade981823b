import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkout, nodePackage, type PackageOptions, readManifest } from './packages.ts';
import { normalize } from './stage.ts';
import { readScript, stageSystem, systemModes } from './system-tree.ts';
import { makeFolder, run } from './tools.ts';

/** Machine names in RPM packages. */
const architectures: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };

/** Builds the RPM package and returns its file name. Packages from the same commit are always identical. */
export async function makeRpm({ into, revision, epochSeconds }: PackageOptions): Promise<string> {
  const { version, description } = await readManifest();
  const architecture = architectures[process.arch]!;
  const node_requires = await requirementsOf(join(checkout, 'node_modules', nodePackage, 'bin/node'));
  await using folder = await makeFolder();
  const staged = join(folder.path, 'root');
  await stageSystem(staged, 'site-functions');
  await normalize(staged, epochSeconds, systemModes);
  const spec = join(folder.path, 'sluice.spec');
  await writeFile(spec, await readScript(join(import.meta.dirname, 'rpm/sluice.spec')));
  const own = { version, release: revision, description_text: description, staged, node_requires };
  const macros = { ...own, _topdir: folder.path };
  const defines = Object.entries(macros).flatMap(([name, value]) => ['--define', `${name} ${value}`]);
  // HOME is this folder, which contains no .rpmmacros that would change the package.
  const env = { HOME: folder.path, SOURCE_DATE_EPOCH: String(epochSeconds) };
  await run('rpmbuild', [...defines, '--target', `${architecture}-linux`, '-bb', spec], { env });
  const file = `sluice-${version}-${revision}.${architecture}.rpm`;
  await cp(join(folder.path, 'RPMS', architecture, file), join(into, file));
  return file;
}

/** The library versions that a program is linked to, as rpmbuild writes them. */
async function requirementsOf(program: string): Promise<string> {
  const tool = join(await run('rpmbuild', ['--eval', '%{_rpmconfigdir}']), 'elfdeps');
  return (await run(tool, ['--requires', program])).split('\n').sort().join(', ');
}
