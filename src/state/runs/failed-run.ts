import type { RunState } from '../tables.ts';

const failedStates: ReadonlySet<string> = new Set<RunState>(['failed', 'dead', 'quarantined', 'interrupted']);

/** Returns whether a run with this state or outcome needs attention because its result didn't reach the instance. */
export const isFailedRun = (state: string): boolean => failedStates.has(state);
