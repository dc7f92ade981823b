import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskSpace } from '../lib/disk-space.ts';

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
    const names = readdirSync(folder, { recursive: true }) as string[];
    return names.reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);
  } catch {
    // The folder was just created or removed; the next check will see it.
    return 0;
  }
}

/** The space that a file uses. A second name of a payload uses none while the payload exists. */
function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.nlink === 1 ? stat.size : 0;
}
