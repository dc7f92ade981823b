import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { type DiskLimits, freeSpaceOf } from '../../state/disk.ts';
import { type DiskUsage, type DiskUser, diskUsageOf, totalBytes } from '../../state/disk-usage.ts';

/** A state folder's disk usage. */
export interface DiskStatus {
  readonly bytes: number;
  /** The folder's size limit. */
  readonly limit_bytes: number;
  /** Number of bytes that can still be written before the limit is reached or the disk is full. Never negative. */
  readonly room_bytes: number;
  /** Disk usage by kind of file, largest first. */
  readonly holds: readonly DiskUsage[];
  /** 1 if the folder is almost full, 2 if nothing more can be written. */
  readonly level: 0 | 1 | 2;
}

/** Fraction of the limit above which warnings are shown. */
const warnedPart = 0.9;
/** If less than this is free, the next result may not fit. */
const littleBytes = 1_000_000;
/** Minimum interval between measurements, because each measurement lists all files. */
const lookEveryMs = 60_000;

/** Measures the disk usage of the store's folder. Returns undefined if the config sets no limit. */
export async function reportDisk(
  { disk: limits }: Pick<Config, 'disk'>,
  store: DiskUser,
): Promise<DiskStatus | undefined> {
  return limits && diskStatusOf(limits, { folder: store.folder, holds: await diskUsageOf(store) });
}

/** Like {@link reportDisk}, but for callers that already know the folder's contents. */
export function diskStatusOf(
  limits: DiskLimits,
  { folder, holds }: { readonly folder: string; readonly holds: readonly DiskUsage[] },
): DiskStatus {
  const used = totalBytes(holds);
  const { bytes: room, free, keptFree } = freeSpaceOf({ store: { folder }, limits }, used);
  const isFilling = used >= limits.limitBytes * warnedPart || free < 2 * keptFree;
  return {
    bytes: used,
    limit_bytes: limits.limitBytes,
    room_bytes: Math.max(0, Math.floor(room)),
    holds,
    level: room < littleBytes ? 2 : isFilling ? 1 : 0,
  };
}

/** Like {@link reportDisk}, but for frequent callers. Measures at most once a minute. */
export class DiskWatch {
  #last: { readonly at: number; readonly status: DiskStatus | undefined } | undefined;

  async look(
    config: Pick<Config, 'disk'>,
    { store, clock }: { store: DiskUser; clock: Clock },
  ): Promise<DiskStatus | undefined> {
    const at = clock.monotonic();
    if (this.#last === undefined || at - this.#last.at >= lookEveryMs) {
      this.#last = { at, status: await reportDisk(config, store) };
    }
    return this.#last.status;
  }
}
