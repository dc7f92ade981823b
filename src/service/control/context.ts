import type { ServiceContext } from '../context.ts';
import type { FaultRules } from '../faults/fault-rules.ts';
import type { App } from '../http/app.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { PauseGate } from '../pause-gate.ts';
import type { MovableClock } from './movable-clock.ts';

/** The parts of the running service that the control interface can read and change. */
export interface ControlContext {
  readonly service: ServiceContext;
  readonly app: App;
  readonly clock: MovableClock;
  readonly faults: FaultRules;
  readonly gate: PauseGate;
  readonly requestLog: RequestLog;
  /** The fixtures file that the service was started with. */
  readonly fixtures: string | undefined;
  /** The first admin's API key, if this service created the admin. A reset creates the same key again. */
  readonly firstKey: string | undefined;
  /** Runs tasks that replace or add data one at a time. */
  readonly serially: <T>(work: () => Promise<T>) => Promise<T>;
}

/** A serial queue: runs each task after all earlier ones have settled. */
export function serialQueue(): ControlContext['serially'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}
