import type { ServiceContext } from '../context.ts';
import type { FaultRules } from '../faults/fault-rules.ts';
import type { App } from '../http/app.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { PauseGate } from '../pause-gate.ts';
import type { MovableClock } from './movable-clock.ts';

/** The running service as the control interface sees it: all that it may look at and change. */
export interface ControlContext {
  readonly service: ServiceContext;
  readonly app: App;
  readonly clock: MovableClock;
  readonly faults: FaultRules;
  readonly gate: PauseGate;
  readonly requestLog: RequestLog;
  /** The fixtures file that the service was started with. */
  readonly fixtures: string | undefined;
  /** The key of the first admin, where this service made one: a reset makes the same again. */
  readonly firstKey: string | undefined;
  /** What replaces or adds data happens one after the other. */
  readonly serially: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Runs each piece of work once all that came before it are over, however they ended. */
export function serialQueue(): ControlContext['serially'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}
