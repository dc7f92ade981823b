import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What a build says of itself; see deploy/build/stamp.ts. */
export interface Build {
  readonly version: string;
  /** A hash of the built files; absent where the sources run. */
  readonly content?: string;
  /** The full hash of the commit; absent where the build did not know it. */
  readonly commit?: string;
  /** When the commit was made, RFC 3339. */
  readonly committed_at?: string;
  /** The files that were built differ from the commit. */
  readonly modified?: boolean;
}

/** The stamp of the built files; there is none beside the sources. */
const stampFile = fileURLToPath(new URL('../../build.json', import.meta.url));

/** The stamp as it is on the disk now, byte for byte; undefined where there is none. Throws if that cannot be known. */
export function readStamp(): string | undefined {
  try {
    return readFileSync(stampFile, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** The stamp of the code that this process runs. */
export const startedStamp: string | undefined = readStamp();

/** What this process runs. */
export const build: Build = startedStamp === undefined ? { version: sourceVersion() } : JSON.parse(startedStamp);

/** The commit as people and metrics see it, with a mark if the built files differ from it. */
export const commitText: string = commitOf(build);

/** Version, commit and the time of the commit of what this process runs, for people. */
export const buildText: string = textOf(build);

/** Version, commit and the time of the commit of a build, for people. */
export function textOf(any: Build): string {
  const { version, content, commit, committed_at: at } = any;
  if (content === undefined) return `${version} (run from its sources, not built)`;
  if (commit === undefined) return `${version} (commit unknown: built outside of a git checkout)`;
  return `${version} (commit ${commitOf(any)}${at === undefined ? '' : ` of ${at}`})`;
}

function commitOf({ commit, modified }: Build): string {
  return commit === undefined ? 'unknown' : `${commit.slice(0, 12)}${modified ? '+changes' : ''}`;
}

function sourceVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
