import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A build's stamp; see deploy/build/stamp.ts. */
export interface Build {
  readonly version: string;
  /** A hash of the built files; absent when running from source. */
  readonly content?: string;
  /** The full commit hash; absent if it was unknown at build time. */
  readonly commit?: string;
  /** The commit time, RFC 3339. */
  readonly committed_at?: string;
  /** True if the built files differ from the commit. */
  readonly modified?: boolean;
}

/** The stamp next to the built files; the source files have none. */
const stampFile = fileURLToPath(new URL('../../build.json', import.meta.url));

/** The stamp that is on disk now, byte for byte; undefined if there is none. Throws if it can't be read. */
export function readStamp(): string | undefined {
  try {
    return readFileSync(stampFile, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** The stamp of the running code. */
export const startedStamp: string | undefined = readStamp();

/** The running build. */
export const build: Build = startedStamp === undefined ? { version: sourceVersion() } : JSON.parse(startedStamp);

/** The commit as shown to people and in metrics, with a mark if the built files differ from it. */
export const commitText: string = commitOf(build);

/** The running build's version, commit and commit time, human-readable. */
export const buildText: string = textOf(build);

/** A build's version, commit and commit time, human-readable. */
export function textOf(any: Build): string {
  const { version, content, commit, committed_at: at } = any;
  if (content === undefined) return `${version} (run from source, not built)`;
  if (commit === undefined) return `${version} (commit unknown: built outside a git checkout)`;
  return `${version} (commit ${commitOf(any)}${at === undefined ? '' : ` of ${at}`})`;
}

function commitOf({ commit, modified }: Build): string {
  return commit === undefined ? 'unknown' : `${commit.slice(0, 12)}${modified ? '+changes' : ''}`;
}

function sourceVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
