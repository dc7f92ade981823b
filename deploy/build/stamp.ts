import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Build } from '../../src/lib/build.ts';
import type { BuiltFile } from './bare-imports.ts';

const run = promisify(execFile);

export interface StampOptions {
  readonly root: string;
  readonly version: string;
  readonly files: readonly BuiltFile[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Build information in dist/build.json. It's reproducible: the same commit always has the same stamp. If there is no
 * git checkout, as in an image that is built without `.git`, the values are taken from `SLUICE_COMMIT` and
 * `SOURCE_DATE_EPOCH` (https://reproducible-builds.org/specs/source-date-epoch/). If those aren't set, the commit is
 * unknown.
 */
export async function stampOf({ root, version, files, env }: StampOptions): Promise<Build> {
  const hash = createHash('sha256');
  for (const { fileName, code } of files.toSorted((a, b) => (a.fileName < b.fileName ? -1 : 1))) {
    hash.update(`${fileName}\0${code}\0`);
  }
  const content = hash.digest('hex').slice(0, 16);
  return { version, content, ...((await commitIn(root)) ?? commitOf(env)) };
}

type Commit = Pick<Build, 'commit' | 'committed_at' | 'modified'>;

/** The commit that is checked out in `root`. A repository in a parent folder of `root` is ignored. */
async function commitIn(root: string): Promise<Commit | undefined> {
  const git = async (...args: string[]) => (await run('git', ['-C', root, ...args])).stdout.trim();
  try {
    if ((await realpath(await git('rev-parse', '--show-toplevel'))) !== (await realpath(root))) return undefined;
    const [commit, at] = (await git('log', '-1', '--format=%H %ct')).split(' ');
    const changes = await git('status', '--porcelain', '--untracked-files=no');
    return { commit: commit!, committed_at: instantOf(at!), ...(changes === '' ? {} : { modified: true }) };
  } catch {
    return undefined;
  }
}

function commitOf({ SLUICE_COMMIT: commit, SOURCE_DATE_EPOCH: at }: NodeJS.ProcessEnv): Commit {
  if (!commit) return {};
  return { commit, ...(at ? { committed_at: instantOf(at) } : {}) };
}

/** The time has no milliseconds, as in git. */
function instantOf(epochSeconds: string): string {
  return new Date(Number(epochSeconds) * 1000).toISOString().replace('.000Z', 'Z');
}
