import { posix } from 'node:path';
import type { ConnectorLog, Problem, QueryPath, RunWarning } from '#sdk';
import { type Glob, globOf } from './glob.ts';
import { inspectFile } from './inspect-file.ts';
import { make, maxEntries, tooMany } from './problems.ts';
import type { DirectoryEntry, FileFacts, Session } from './session.ts';

/** A file on the server that matches a query. */
export interface RemoteFile extends FileFacts {
  /** Absolute. */
  readonly path: string;
  /** Path relative to the source's folder; absolute if the file is outside the folder. */
  readonly name: string;
  /** The file's entry in the folder's listing; undefined if the query names the file itself. */
  readonly entry?: DirectoryEntry;
}

/** The files that match, and a function that looks up other files in the same folders. */
export interface FoundFiles {
  readonly files: readonly RemoteFile[];
  /** Whether a file with this absolute path exists. */
  has(path: string): Promise<boolean>;
}

/** What to find, and where. */
export interface FindOptions {
  readonly folder: string | undefined;
  readonly path: QueryPath;
  /** Whether the pattern may match no files. */
  readonly none: boolean;
  /** Whether a file that the path names without a pattern may be missing. */
  readonly isMissing?: boolean;
  readonly log: ConnectorLog;
  readonly warn: (warning: RunWarning) => void;
}

/**
 * The files that match a path or a glob, sorted by name. A file whose name equals the whole pattern, including
 * brackets, takes precedence.
 */
export async function findFiles(session: Session, finding: FindOptions): Promise<FoundFiles> {
  const { path: wanted, folder, none, isMissing = false } = finding;
  const { path, isOptional } = wanted;
  const base = baseOf(session.home, { folder, path });
  const glob = globOf(path);
  if (glob === undefined) return await findOne(session, { base, path: wanted, isMissing: isMissing || isOptional });
  const found = await new Walk(session, { ...finding, base, glob }).run();
  if (found.files.length === 0 && !none && !isOptional) throw notFound(base, path, 'no file matches the pattern');
  return found;
}

interface FindOneOptions {
  readonly base: string;
  readonly path: QueryPath;
  readonly isMissing: boolean;
}

async function findOne(
  session: Session,
  { base, path: { path, top }, isMissing }: FindOneOptions,
): Promise<FoundFiles> {
  const exact = posix.resolve(base, path);
  const seen = await session.stat(exact);
  const has = async (other: string) => !('absent' in (await session.stat(other)));
  if ('absent' in seen) {
    if (await session.isFolder(exact)) throw isFolder(path);
    if (isMissing && (await isUnlisted(session, exact, posix.resolve(base, top)))) return { files: [], has };
    throw notFound(base, path, 'the file does not exist, or is not visible to this user');
  }
  return { files: [{ path: exact, name: nameOf(base, exact), ...seen }], has };
}

/**
 * Whether a listing shows that there is no such file, or no such folder below `top`. Servers use the same reply for a
 * forbidden one.
 */
async function isUnlisted(session: Session, path: string, top: string): Promise<boolean> {
  // A folder that isn't mounted doesn't mean that there is no file.
  if (path === top) return false;
  const folder = posix.dirname(path);
  if (await session.isFolder(folder)) return (await listedEntry(session, path)) === undefined;
  return folder !== '/' && (await isUnlisted(session, folder, top));
}

/** A file's entry in the listing of its folder; undefined if the listing doesn't contain it. */
export async function listedEntry(session: Session, path: string): Promise<DirectoryEntry | undefined> {
  return (await session.list(posix.dirname(path))).find(({ name }) => name === posix.basename(path));
}

/** The folder that relative paths start from. Some servers don't use `/` in paths: VMS, z/OS, IBM i. */
export function baseOf(
  home: string,
  { folder, path }: { readonly folder: string | undefined; readonly path: string },
): string {
  if (folder?.startsWith('/')) return posix.resolve(folder);
  if (home.startsWith('/')) return posix.resolve(home, folder ?? '.');
  if (path.startsWith('/')) return '/';
  throw make('FTP_HOME', 'config', {
    message: 'the folder that the server reports after login does not start with /',
    seen: home,
    next: "set the source's `folder` to an absolute path, such as /exports",
  });
}

interface Walking extends FindOptions {
  readonly base: string;
  readonly glob: Glob;
}

class Walk {
  readonly #session: Session;
  readonly #walking: Walking;
  /** The path of the file whose name equals the whole pattern. */
  readonly #exact: string;
  readonly #matched: { readonly path: string; readonly entry: DirectoryEntry }[] = [];
  /** The file names in the folders that were listed. */
  readonly #names = new Map<string, Set<string>>();
  #entries = 0;
  #linkedFolders = 0;

  constructor(session: Session, walking: Walking) {
    this.#session = session;
    this.#walking = walking;
    this.#exact = posix.resolve(walking.base, walking.path.path);
  }

  async run(): Promise<FoundFiles> {
    const { base, path, glob } = this.#walking;
    const start = posix.resolve(base, glob.base);
    // Reports an error even for `files: changed`, because a missing or inaccessible folder isn't the same as an empty
    // one. Only the folder of a day may not exist yet.
    if (await this.#session.isFolder(start)) await this.#look(start);
    else if (!path.isOptional || !(await isUnlisted(this.#session, start, posix.resolve(base, path.top))))
      throw notFound(base, path.path, `folder ${start} does not exist or is not accessible`);
    const files = (await this.#filesOf(this.#chosen())).sort((a, b) => (a.name < b.name ? -1 : 1));
    return { files, has: (other) => this.#has(other) };
  }

  async #look(folder: string): Promise<void> {
    for (const entry of await this.#list(folder)) {
      const path = posix.join(folder, entry.name);
      const [isMatch, mayHold] = [this.#matches(path), this.#mayHold(path)];
      if (!(isMatch || mayHold)) continue;
      if (entry.kind === 'folder' || (entry.kind === 'unknown' && (await this.#session.isFolder(path)))) {
        if (mayHold) await this.#look(path);
        else if (path === this.#exact) throw isFolder(this.#walking.path.path);
      } else if (isMatch && entry.kind !== 'other') this.#matched.push({ path, entry });
      else if (entry.kind === 'link' && (await this.#session.isFolder(path))) this.#linkedFolders += 1;
    }
  }

  async #list(folder: string): Promise<DirectoryEntry[]> {
    const entries = await this.#session.list(folder);
    this.#entries += entries.length;
    if (this.#entries > maxEntries) throw tooMany();
    this.#names.set(folder, new Set(entries.map(({ name }) => name)));
    return entries;
  }

  #matches(path: string): boolean {
    return path === this.#exact || this.#walking.glob.matches(this.#comparablePath(path));
  }

  #mayHold(path: string): boolean {
    return this.#exact.startsWith(`${path}/`) || this.#walking.glob.mayHold(this.#comparablePath(path));
  }

  /** The file's path in the same form as the pattern: absolute, or relative to the source's folder. */
  #comparablePath(path: string): string {
    const { base, glob } = this.#walking;
    return glob.base.startsWith('/') ? path : posix.relative(base, path);
  }

  #chosen() {
    const exact = this.#matched.filter(({ path }) => path === this.#exact);
    return exact.length > 0 ? exact : this.#matched;
  }

  /** Follows links to files but not to folders, because links to folders may form cycles. */
  async #filesOf(matched: readonly { readonly path: string; readonly entry: DirectoryEntry }[]): Promise<RemoteFile[]> {
    const files: RemoteFile[] = [];
    let dangling = 0;
    for (const { path, entry } of matched) {
      const { kind, size, modified } = entry;
      const isTold = kind === 'file' && size !== undefined && modified !== undefined;
      const seen = isTold ? { size, modified } : await inspectFile(this.#session, path, entry);
      if (seen === 'link to nowhere') dangling += 1;
      else if (seen === 'link to a folder') this.#linkedFolders += 1;
      else if (seen !== 'gone') files.push({ path, name: nameOf(this.#walking.base, path), entry, ...seen });
    }
    if (dangling + this.#linkedFolders > 0)
      this.#walking.log.info('symbolic links were skipped', { dangling, to_folders: this.#linkedFolders });
    if (this.#linkedFolders > 0) this.#walking.warn(linkedFolders(this.#linkedFolders));
    return files;
  }

  async #has(path: string): Promise<boolean> {
    const folder = posix.dirname(path);
    if (!this.#names.has(folder) && (await this.#session.isFolder(folder))) await this.#list(folder);
    return this.#names.get(folder)?.has(posix.basename(path)) ?? false;
  }
}

function linkedFolders(count: number): RunWarning {
  return {
    code: 'FTP_LINKED_FOLDERS',
    message: 'symbolic links to folders are not followed, so their files are not read',
    seen: count === 1 ? '1 link' : `${count} links`,
    next: 'to read a linked folder, put the link before the pattern: `path: LINK/*.csv`',
  };
}

function nameOf(base: string, path: string): string {
  const inside = posix.relative(base, path);
  return inside.startsWith('..') ? path : inside;
}

/**
 * The problem to report if no file on the server matches the query. `base` is the folder that relative paths start
 * from.
 */
export function notFound(base: string, path: string, message: string): Problem {
  return make('FTP_NOT_FOUND', 'job', {
    message,
    seen: path,
    next: `check the path; relative paths start at ${base} on the server`,
  });
}

function isFolder(path: string): Problem {
  return make('FTP_NOT_A_FILE', 'job', {
    message: 'the path is a folder',
    seen: path,
    next: `set the path to the files in it, for example \`path: ${path.replace(/\/+$/, '')}/*.csv\``,
  });
}
