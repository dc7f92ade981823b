import { readFileSync } from 'node:fs';

/** The package's version. The sources stand two folders below package.json, the built files three. */
export const version: string = readVersion();

function readVersion(): string {
  for (const up of ['../../package.json', '../../../package.json']) {
    try {
      const found = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (found.name === 'sluice' && found.version !== undefined) return found.version;
    } catch {
      // Not here; the other place is looked at.
    }
  }
  return 'unknown';
}
