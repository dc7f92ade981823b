import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';

const { O_RDONLY, O_DIRECTORY } = constants;

/**
 * A state folder that only this user can change. The folder is kept open and its files are accessed through its
 * descriptor. The files are therefore always in the folder that was checked, even if another folder is moved to its
 * path. Paths through a descriptor are also short enough for a socket (at most 107 bytes). Only Linux supports such
 * paths.
 */
export class PrivateFolder {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Returns undefined if the folder doesn't exist, belongs to another user, or can be written by another user. */
  static open(path: string): PrivateFolder | undefined {
    if (process.platform !== 'linux') return undefined;
    const descriptor = openOrUndefined(path);
    if (descriptor === undefined) return undefined;
    const { uid, mode } = fstatSync(descriptor);
    if (uid === process.geteuid!() && (mode & 0o022) === 0) return new PrivateFolder(descriptor);
    closeSync(descriptor);
    return undefined;
  }

  pathOf(name: string): string {
    return `/proc/self/fd/${this.#descriptor}/${name}`;
  }

  /**
   * Whether a socket has this name, belongs to this user and can't be used by any other user. A link to a socket
   * doesn't count.
   */
  hasPrivateSocket(name: string): boolean {
    const stat = lstatSync(this.pathOf(name), { throwIfNoEntry: false });
    return stat?.isSocket() === true && stat.uid === process.geteuid!() && (stat.mode & 0o077) === 0;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function openOrUndefined(path: string): number | undefined {
  try {
    return openSync(path, O_RDONLY | O_DIRECTORY);
  } catch {
    return undefined;
  }
}
