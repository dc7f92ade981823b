import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Problem } from '#sdk';

/**
 * The `require` function that finds a package that isn't part of Sluice: in Sluice's folder or in the config's folder. If
 * the package isn't installed, throws a Problem that includes the command to install it. `title`: what it's needed for.
 */
export function requireOptional(
  name: string,
  { title, folder, places = [import.meta.url, join(folder, 'sluice.yaml')] }: OptionalPackage,
): NodeJS.Require {
  for (const place of places) {
    const require = createRequire(place);
    try {
      require.resolve(name);
      return require;
    } catch {}
  }
  throw new Problem({
    code: 'DB_DRIVER_MISSING',
    family: 'config',
    message: `the ${title} driver is not installed`,
    next: `run \`npm install ${name}\` in the folder where Sluice is installed or in the config file's folder`,
  });
}

interface OptionalPackage {
  readonly title: string;
  readonly folder: string;
  /** Files from which the package is looked for. */
  readonly places?: readonly string[] | undefined;
}
