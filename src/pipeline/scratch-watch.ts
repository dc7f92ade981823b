import { statSync } from 'node:fs';
import type { DiskSpace } from '../lib/disk-space.ts';
import { filesBelow } from '../lib/files-below.ts';

/** How often the scratch folder's size is checked, because connectors write to it at network speed. */
const lookEveryMs = 200;

/** Reserves disk space for a connector's own files as it writes them. */
export class ScratchWatch {
  readonly #given: { readonly scratch: string; readonly room: DiskSpace; readonly full: (why: unknown) => void };
  readonly #timer: NodeJS.Timeout;
  #seen = 0;
  #refusal: unknown;

  /** `full`: called once, with the reason, if disk space runs out. */
  constructor(given: { scratch: string; room: DiskSpace; full: (why: unknown) => void }) {
    this.#given = given;
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
    this.#timer.unref();
  }

  /** Why disk space ran out; undefined if it didn't. */
  get refusal(): unknown {
    return this.#refusal;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { scratch, room, full } = this.#given;
    const bytes = bytesOf(scratch);
    const more = bytes - this.#seen;
    this.#seen = Math.max(bytes, this.#seen);
    if (more <= 0) return;
    room.claim(more)?.catch((why: unknown) => {
      this.end();
      this.#refusal ??= why;
      full(why);
    });
  }
}

function bytesOf(folder: string): number {
  try {
    return filesBelow(folder).reduce((sum, path) => sum + sizeOf(path), 0);
  } catch {
    // The process has too many open files, for example; the next check will see the folder.
    return 0;
  }
}

/** The space that a file uses. A second name of a payload uses none while the payload exists. */
function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.nlink === 1 ? stat.size : 0;
}
