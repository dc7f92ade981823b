import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cached, runTool } from './fetch.ts';

const requirements = new URL('python/manifests.txt', import.meta.url).pathname;

/** The tools that read deployment files. */
export interface ManifestTools {
  /** A Python with `kubernetes_validate` and `check_jsonschema`, which include their schemas. */
  readonly python: string;
}

/** What this machine lacks to fetch the tools. */
export function missingForManifests(): string[] {
  return hasVenv() ? [] : ['Python with venv'];
}

function hasVenv(): boolean {
  try {
    execFileSync('python3', ['-c', 'import venv, ensurepip'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the tools. Fetches them on first use. */
export async function manifestTools(): Promise<ManifestTools> {
  const python = await cached(
    `manifests-${createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)}`,
    async (folder) => {
      await runTool('python3', ['-m', 'venv', '--copies', folder]);
      const flags = ['install', '--quiet', '--require-hashes', '--only-binary', ':all:', '--requirement', requirements];
      await runTool(join(folder, 'bin/python3'), ['-m', 'pip', ...flags]);
    },
  );
  return { python: join(python, 'bin/python3') };
}
