import fs from 'node:fs';
import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';

/** One operation on a disk that a process is about to perform. */
export interface DurableStep {
  /** `rename`, `write`, `sync`, `commit`, … */
  readonly what: string;
  /** The file; for a commit, the last statement before it. */
  readonly on: string;
}

// biome-ignore lint/suspicious/noExplicitAny: any function of any signature is wrapped
type Any = any;
type Go = (...given: Any[]) => Any;

/** Calls `go`, doesn't call it, or does something else; `given` is what `go` would be called with. */
export type Around = (step: DurableStep, go: Go, given: Any[]) => Any;

/** Wraps with `around` everything durable that this process does below a folder, in files or in SQLite. */
export function aroundDurable(folder: string, around: Around): void {
  const isOurs = (path: unknown): boolean => String(path).startsWith(folder);
  aroundFiles(isOurs, around);
  aroundHandles(isOurs, around);
  aroundDescriptors(isOurs, around);
  aroundCommits(isOurs, around);
  syncBuiltinESMExports();
}

function aroundFiles(isOurs: (path: unknown) => boolean, around: Around): void {
  const wrap = (where: Record<string, Any>, names: readonly string[]): void => {
    for (const name of names) {
      const real = where[name] as Go;
      where[name] = (...given: Any[]) => {
        if (!isOurs(given[0])) return real(...given);
        return around({ what: name.replace('Sync', ''), on: given[0] }, real, given);
      };
    }
  };
  wrap(fs as Any, ['mkdirSync', 'rmSync', 'rmdirSync', 'renameSync', 'unlinkSync', 'writeFileSync', 'utimesSync']);
  wrap(promises as Any, ['mkdir', 'rm', 'rename', 'link', 'unlink', 'writeFile', 'copyFile', 'utimes']);
}

function aroundHandles(isOurs: (path: unknown) => boolean, around: Around): void {
  const paths = new WeakMap<object, string>();
  const open = promises.open as Go;
  let wrapped = false;
  (promises as Any).open = async (...given: Any[]) => {
    if (!isOurs(given[0])) return open(...given);
    const writes = typeof given[1] === 'string' && given[1] !== 'r';
    const handle: FileHandle = await (writes ? around({ what: 'create', on: given[0] }, open, given) : open(...given));
    paths.set(handle, given[0]);
    if (!wrapped) wrapHandles(Object.getPrototypeOf(handle), paths, around);
    wrapped = true;
    return handle;
  };
}

function aroundDescriptors(isOurs: (path: unknown) => boolean, around: Around): void {
  const files = fs as Any;
  const paths = new Map<number, string>();
  const { openSync, closeSync } = files;
  files.openSync = (...given: Any[]) => {
    if (!isOurs(given[0])) return openSync(...given);
    const descriptor =
      given[1] === 'wx' ? around({ what: 'create', on: given[0] }, openSync, given) : openSync(...given);
    paths.set(descriptor, given[0]);
    return descriptor;
  };
  files.closeSync = (descriptor: number) => {
    paths.delete(descriptor);
    return closeSync(descriptor);
  };
  for (const [name, what] of [
    ['fsync', 'sync'],
    ['writeFileSync', 'write'],
    ['readSync', 'read'],
  ] as const) {
    const real = files[name] as Go;
    files[name] = (...given: Any[]) => {
      const on = paths.get(given[0]);
      return on === undefined ? real(...given) : around({ what, on }, real, given);
    };
  }
}

function wrapHandles(prototype: Any, paths: WeakMap<object, string>, around: Around): void {
  for (const name of ['write', 'sync', 'datasync', 'read']) {
    const real = prototype[name] as Go;
    prototype[name] = function (this: object, ...given: Any[]) {
      const on = paths.get(this);
      if (on === undefined) return real.apply(this, given);
      return around({ what: name, on }, (...other) => real.apply(this, other), given);
    };
  }
}

/**
 * A commit, a statement that writes outside a transaction and therefore commits implicitly, or (`change`) a statement
 * inside a transaction.
 */
function aroundCommits(isOurs: (path: unknown) => boolean, around: Around): void {
  const prototype = DatabaseSync.prototype as Any;
  const prepare = prototype.prepare as Go;
  let last = '';
  prototype.prepare = function (this: DatabaseSync, text: string) {
    const statement = prepare.call(this, text);
    if (!isOurs(this.location()) || /^(begin|pragma)\b/.test(text)) return statement;
    for (const name of ['run', 'all', 'get']) {
      const real = (statement[name] as Go).bind(statement);
      statement[name] = (...given: Any[]) => {
        if (text === 'commit') return around({ what: 'commit', on: last }, real, given);
        if (statement.columns().length > 0 && !/\breturning\b/.test(text)) return real(...given);
        last = shorten(text);
        return around({ what: this.isTransaction ? 'change' : 'commit', on: last }, real, given);
      };
    }
    return statement;
  };
}

/** Turns `insert into "outbox" (…` into `insert into outbox`. */
function shorten(text: string): string {
  return text.replaceAll('"', '').split(/\s+/).slice(0, 3).join(' ');
}
