import type { JobStatus, Status } from '../daemon/report-status.ts';

/** How much a job wants of whoever looks: `bad` a person has to act, `wait` it will end by itself or was meant, `idle` nothing is due. */
export type Standing = 'bad' | 'wait' | 'good' | 'idle';

/** The sign before the words, for who cannot tell the colours apart. */
export const signs: Readonly<Record<Standing, string>> = { bad: '✖', wait: '◔', good: '✔', idle: '○' };

const failed = new Set(['failed', 'interrupted', 'dead', 'quarantined']);

/** `fires`: a daemon is there whose schedules tick. `now` in epoch milliseconds. */
export function standingOf(status: JobStatus, { now, fires }: { now: number; fires: boolean }): Standing {
  const { state, enabled, last_run, next_firing_at, owed, stretched } = status;
  if (state.startsWith('held by')) return 'wait';
  if (state === 'running') return 'good';
  if (state.includes('credentials refused') || failed.has(state) || failed.has(last_run?.state ?? '')) return 'bad';
  if (!enabled) return 'idle';
  if (!fires && next_firing_at !== undefined && next_firing_at < now) return 'bad';
  if (owed.length > 0 || stretched !== undefined) return 'wait';
  return state === 'never ran' ? 'idle' : 'good';
}

/** Whether a daemon is there that fires. */
export const firesIn = ({ daemon }: Status): boolean => daemon !== undefined && daemon.stopped === undefined;
