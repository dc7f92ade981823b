import { bytesText } from '../../lib/bytes-text.ts';
import { holdingsText } from '../../state/disk-problems.ts';
import type { DiskStatus } from '../report-disk.ts';
import type { Found } from './look.ts';

/** A state folder that fills up, or has no room left. */
export function fillingOf(disk: DiskStatus | undefined, now: number): Found[] {
  if (disk === undefined || disk.level === 0) return [];
  const { bytes, limit_bytes, room_bytes, holds, level } = disk;
  const held = `it holds ${bytesText(bytes)} of ${bytesText(limit_bytes)}`;
  const left = level === 2 ? 'runs that have something new fail' : `room for ${bytesText(room_bytes)} is left`;
  const what = `${held}, ${left}: ${holdingsText(holds)}`;
  return [{ subject: 'disk', occasion: 'disk', level, cause: '', since: now, what }];
}
