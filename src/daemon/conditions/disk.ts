import { bytesText } from '../../lib/bytes-text.ts';
import { diskUsageText, roomAdvice } from '../../state/engine/disk-problems.ts';
import type { DiskStatus } from '../report/report-disk.ts';
import type { Condition } from './condition.ts';

/** Finds a state folder that is full or almost full. */
export function diskCondition(disk: DiskStatus | undefined, now: number): Condition[] {
  if (disk === undefined || disk.level === 0) return [];
  const { bytes, limit_bytes, room_bytes, holds, level } = disk;
  const isFull = level === 2;
  const left = isFull ? 'so runs with new data fail' : `${bytesText(room_bytes)} left`;
  const isDiskShort = room_bytes < limit_bytes - bytes;
  const what = isDiskShort
    ? `the state folder's disk ${isFull ? 'is full' : 'is almost full'}, ${left}; the folder contains ${diskUsageText(holds)}`
    : `the state folder uses ${bytesText(bytes)} of ${bytesText(limit_bytes)}, ${left}; it contains ${diskUsageText(holds)}`;
  const advice = roomAdvice(holds) ?? 'raise disk.limit_megabytes in the config';
  return [
    {
      subject: 'disk',
      kind: 'disk',
      level: isFull ? 'error' : 'warning',
      since: now,
      what,
      jobs: [],
      fix: isDiskShort ? `free some space on that disk, or move the state folder to a larger one; ${advice}` : advice,
    },
  ];
}
