import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../state/store.ts';
import { fleetRequest } from '../config/reload-answer.ts';
import { Poll } from './poll.ts';

/** How often each process of a fleet looks for a request, in milliseconds. */
const lookMs = 3_000;

interface ReloadRequestsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** When this process started to load its config, in epoch milliseconds of the state's clock. */
  readonly startedAt: number;
  /** Starts a reload, which answers the request. */
  readonly reload: () => void;
  /** Aborted when the process stops. */
  readonly stop: AbortSignal;
}

/**
 * Reloads the config whenever `sluice reload --fleet` asks all processes of a fleet to do so. Ignores requests from before
 * this process started, because it has loaded a newer config. Returns the poll, which has started already.
 */
export function watchReloadRequests({ store, clock, startedAt, reload, stop }: ReloadRequestsOptions): Poll {
  let handled = 0;
  const poll = new Poll({
    ...{ clock, everyMs: lookMs, stop },
    async look() {
      const request = await fleetRequest(store);
      if (request === undefined || request.asked <= handled) return;
      handled = request.asked;
      if (request.at >= startedAt) reload();
    },
    // Other parts of the process report that the state can't be read.
    failed: () => undefined,
  });
  poll.start();
  return poll;
}
