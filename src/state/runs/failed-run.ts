import type { RunState } from '../tables.ts';

const failedStates: ReadonlySet<string> = new Set<RunState>(['failed', 'dead', 'quarantined', 'interrupted']);

/** Whether a run with this state, or outcome, ended without its result reaching the instance and needs attention. */
export const isFailedRun = (state: string): boolean => failedStates.has(state);
