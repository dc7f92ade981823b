import type { Dispatcher } from 'undici';
import type { Network } from '../../delivery/send-gate.ts';
import { HttpAgent } from '../../lib/http.ts';
import type { VirtualClock } from '../../lib/virtual-clock.ts';
import { luckOf } from './luck.ts';

/** How long the wire and the service take together, at least and at most. */
const answerMs = [60, 340] as const;
const connectTimeoutMs = 10_000;

interface NetworkGiven {
  readonly clock: VirtualClock;
  readonly seed: number;
}

/**
 * Real requests to a service on this machine that take the time of a network on the virtual clock. Each waits its time
 * before it goes out; while it is out, time stands still, so requests are answered one after the other and always in the
 * same order.
 */
export function simulatedNetwork({ clock, seed }: NetworkGiven): Network {
  let requests = 0;
  let pauses = 0;
  const takes = (): number => answerMs[0] + luckOf(seed, 'answer', ++requests) * (answerMs[1] - answerMs[0]);
  return {
    agentFor: () => new SlowAgent(clock, takes),
    random: () => luckOf(seed, 'pause', ++pauses),
  };
}

class SlowAgent extends HttpAgent {
  readonly #clock: VirtualClock;
  readonly #takes: () => number;
  #slow: Promise<Dispatcher> | undefined;

  constructor(clock: VirtualClock, takes: () => number) {
    super({ connectTimeoutMs });
    this.#clock = clock;
    this.#takes = takes;
  }

  override dispatcher(): Promise<Dispatcher> {
    this.#slow ??= super.dispatcher().then((real) => real.compose((dispatch) => this.#slowed(dispatch)));
    return this.#slow;
  }

  #slowed(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
    return (options, handler) => {
      void this.#clock.sleep(this.#takes()).then(() => {
        const letGo = this.#clock.hold();
        dispatch(options, untilOver(handler, letGo));
      });
      return true;
    };
  }
}

/** The same handler, which tells as well when the request is over. */
function untilOver(handler: Dispatcher.DispatchHandler, over: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...given) => handler.onRequestStart?.(...given),
    onResponseStart: (...given) => handler.onResponseStart?.(...given),
    onResponseData: (...given) => handler.onResponseData?.(...given),
    onResponseEnd: (...given) => {
      over();
      handler.onResponseEnd?.(...given);
    },
    onResponseError: (...given) => {
      over();
      handler.onResponseError?.(...given);
    },
  };
}
