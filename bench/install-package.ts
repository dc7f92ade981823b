import { execFile } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');

/** Builds the package and installs it in a folder with npm. Returns the path of the `sluice` command. */
export async function installPackage(folder: string): Promise<string> {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: root });
  const home = join(folder, 'package');
  await mkdir(join(home, 'src/cli'), { recursive: true });
  for (const part of ['dist', 'package.json', 'src/cli/sluice.js']) {
    await cp(join(root, part), join(home, part), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(home, 'node_modules'));
  return join(home, 'src/cli/sluice.js');
}
