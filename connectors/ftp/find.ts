import { posix } from 'node:path';
import type { Problem } from '#sdk';
import { type Glob, globOf } from './glob.ts';
import { make } from './problems.ts';
import type { Entry, Facts, Session } from './session.ts';

/** A file on the server that a query means. */
export interface RemoteFile extends Facts {
  /** Absolute. */
  readonly path: string;
  /** As seen from the source's folder; absolute when it lies elsewhere. */
  readonly name: string;
}

/** The files that match, and the names of everything that stands in the folders that were looked into. */
export interface Found {
  readonly files: readonly RemoteFile[];
  /** Whether a file of this absolute path is there. */
  has(path: string): Promise<boolean>;
}

const mostEntries = 200_000;

/**
 * The files that a path or a glob means, in the order of their names. A file that is called exactly like the pattern is
 * that file, whatever brackets stand in its name. `none` says whether a glob may match nothing at all.
 */
export async function findFiles(
  session: Session,
  { folder, path, none }: { folder: string | undefined; path: string; none: boolean },
): Promise<Found> {
  const base = posix.resolve(session.home, folder ?? '.');
  const exact = posix.resolve(base, path);
  const facts = await session.stat(exact);
  if (facts !== undefined) {
    const has = async (other: string) => (await session.stat(other)) !== undefined;
    return { files: [{ path: exact, name: nameOf(base, exact), ...facts }], has };
  }
  if (await session.isFolder(exact)) throw isFolder(path);
  const glob = globOf(path);
  if (glob === undefined) throw notFound(base, path, 'the file is not there, or may not be seen');
  const found = await new Walk(session, glob, base).run();
  if (found.files.length === 0 && !none) throw notFound(base, path, 'no file matches the pattern');
  return found;
}

class Walk {
  readonly #session: Session;
  readonly #glob: Glob;
  readonly #base: string;
  readonly #isAbsolute: boolean;
  readonly #files: RemoteFile[] = [];
  readonly #paths = new Set<string>();

  constructor(session: Session, glob: Glob, base: string) {
    this.#session = session;
    this.#glob = glob;
    this.#base = base;
    this.#isAbsolute = glob.base.startsWith('/');
  }

  async run(): Promise<Found> {
    const start = posix.resolve(this.#base, this.#glob.base);
    if (await this.#session.isFolder(start)) await this.#look(start);
    const files = this.#files.sort((a, b) => (a.name < b.name ? -1 : 1));
    return { files, has: async (path) => this.#paths.has(path) };
  }

  async #look(folder: string): Promise<void> {
    for (const entry of await this.#session.list(folder)) {
      if (entry.name === '.' || entry.name === '..' || entry.name === '') continue;
      const path = posix.join(folder, entry.name);
      this.#paths.add(path);
      if (this.#paths.size > mostEntries) throw tooMany();
      if (entry.kind === 'folder') {
        if (this.#glob.mayHold(this.#told(path))) await this.#look(path);
      } else if (this.#glob.matches(this.#told(path))) await this.#meet(path, entry);
    }
  }

  /** The path as the pattern is written: absolute, or from the source's folder. */
  #told(path: string): string {
    return this.#isAbsolute ? path : posix.relative(this.#base, path);
  }

  /** Links are followed to files, never to folders: those may go round in circles. */
  async #meet(path: string, { kind, size, modified }: Entry): Promise<void> {
    const isTold = kind === 'file' && size !== undefined && modified !== undefined;
    const facts = isTold ? { size, modified } : await this.#session.stat(path);
    if (facts !== undefined) this.#files.push({ path, name: nameOf(this.#base, path), ...facts });
  }
}

function nameOf(base: string, path: string): string {
  const inside = posix.relative(base, path);
  return inside.startsWith('..') ? path : inside;
}

/** Nothing on the server is what the query names; `base` is where relative paths begin. */
export function notFound(base: string, path: string, message: string): Problem {
  return make('FTP_NOT_FOUND', 'job', {
    message,
    seen: path,
    next: `relative paths are meant from ${base} on the server`,
  });
}

function isFolder(path: string): Problem {
  return make('FTP_NOT_A_FILE', 'job', {
    message: 'the path is a folder',
    seen: path,
    next: `name the files in it, for example \`path: ${path.replace(/\/+$/, '')}/*.csv\``,
  });
}

function tooMany(): Problem {
  return make('FTP_TOO_MANY_FILES', 'job', {
    message: `the folders that the pattern leads through hold more than ${mostEntries} entries`,
    next: 'begin the pattern with the folder that is meant',
  });
}
