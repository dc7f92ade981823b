import type { Dispatcher } from 'undici';
import type { Network } from '../../delivery/send-gate.ts';
import { HttpAgent, loadHttp } from '../../lib/http.ts';
import type { VirtualClock } from '../../lib/virtual-clock.ts';
import { randomOf } from './prng.ts';

/** The minimum and maximum latency of a request, in milliseconds. */
const answerMs = [60, 340] as const;
const connectTimeoutMs = 10_000;

interface NetworkOptions {
  readonly clock: VirtualClock;
  readonly seed: number;
}

/**
 * Sends real requests to a service on this machine, and simulates network latency by waiting on the virtual clock
 * before each request. The clock stops until the response arrives, so responses arrive one at a time and always in the
 * same order.
 */
export function simulatedNetwork({ clock, seed }: NetworkOptions): Network {
  // Virtual time must not pass while the first request waits for code to be loaded.
  const release = clock.hold();
  loadHttp().then(release, release);
  let requests = 0;
  let pauses = 0;
  const nextDelayMs = (): number => answerMs[0] + randomOf(seed, 'answer', ++requests) * (answerMs[1] - answerMs[0]);
  return {
    agentFor: () => new SlowAgent(clock, nextDelayMs),
    random: () => randomOf(seed, 'pause', ++pauses),
  };
}

class SlowAgent extends HttpAgent {
  readonly #clock: VirtualClock;
  readonly #nextDelayMs: () => number;
  #slowDispatcher: Promise<Dispatcher> | undefined;

  constructor(clock: VirtualClock, nextDelayMs: () => number) {
    super({ connectTimeoutMs });
    this.#clock = clock;
    this.#nextDelayMs = nextDelayMs;
  }

  override dispatcher(): Promise<Dispatcher> {
    this.#slowDispatcher ??= super.dispatcher().then((real) => real.compose((dispatch) => this.#delay(dispatch)));
    return this.#slowDispatcher;
  }

  #delay(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
    return (options, handler) => {
      void this.#clock.sleep(this.#nextDelayMs()).then(() => {
        const release = this.#clock.hold();
        dispatch(options, notifyEnd(handler, release));
      });
      return true;
    };
  }
}

/** Wraps a handler so that `onEnd` is called when the request ends. */
function notifyEnd(handler: Dispatcher.DispatchHandler, onEnd: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...given) => handler.onRequestStart?.(...given),
    onResponseStart: (...given) => handler.onResponseStart?.(...given),
    onResponseData: (...given) => handler.onResponseData?.(...given),
    onResponseEnd: (...given) => {
      onEnd();
      handler.onResponseEnd?.(...given);
    },
    onResponseError: (...given) => {
      onEnd();
      handler.onResponseError?.(...given);
    },
  };
}
