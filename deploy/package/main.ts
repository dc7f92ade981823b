import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDeb } from './deb.ts';
import { makeImage } from './image.ts';
import { checkout, includedPackages, readLock, readManifest } from './packages.ts';
import { makeRpm } from './rpm.ts';
import { sbomOf } from './sbom.ts';
import { MissingTool, run } from './tools.ts';

/**
 * `npm run package`, which requires a build: writes the packages for this machine's architecture. It reads only this
 * checkout and the packages that `npm ci` installed. Packages from the same commit are always identical
 * (https://reproducible-builds.org).
 */
const { values: flags } = parseArgs({
  options: {
    into: { type: 'string', default: join(checkout, 'packages') },
    revision: { type: 'string', default: '1' },
  },
});
const into = resolve(flags.into);
await rm(into, { recursive: true, force: true });
await mkdir(into, { recursive: true });
const epochSeconds = Number(
  process.env.SOURCE_DATE_EPOCH || (await run('git', ['-C', checkout, 'log', '-1', '--format=%ct'])),
);

const options = { into, revision: flags.revision, epochSeconds };
const deb = await makeDeb(options);
// The RPM package is skipped if rpmbuild isn't installed. Debian doesn't install rpmbuild by default, and the other
// packages don't need it.
const rpm = await makeRpm(options).catch((error: unknown) => {
  if (error instanceof MissingTool) return error;
  throw error;
});
const made = rpm instanceof MissingTool ? [] : [rpm];
const files = [deb, ...made, await makeImage(options), await writeSbom()];
await writeFile(join(into, 'SHA256SUMS'), `${await run('sha256sum', files, { cwd: into })}\n`);
for (const file of [...files, 'SHA256SUMS']) process.stdout.write(`${join(flags.into, file)}\n`);
if (rpm instanceof MissingTool) process.stderr.write(`No RPM package was built: ${rpm.message}\n`);

async function writeSbom(): Promise<string> {
  const { version } = await readManifest();
  const [included, lock] = await Promise.all([includedPackages(), readLock()]);
  const file = `sluice_${version}.cdx.json`;
  await writeFile(join(into, file), sbomOf({ version, included, lock, epochSeconds }));
  return file;
}
