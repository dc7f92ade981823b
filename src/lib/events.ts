import { channel } from 'node:diagnostics_channel';

/** Maps event names (past tense, `noun.verb`) to their fields, which are JSON-safe. */
export type EventMap = Record<string, object>;

/** Any of a map's events, as a pair of its name and its fields. Checking the name narrows the type of the fields. */
type EventOf<M extends EventMap> = { [K in keyof M & string]: [name: K, facts: M[K]] }[keyof M & string];

/**
 * One emitter, many subscribers: log, metrics, history, progress and console. Code that emits only some events also
 * accepts an emitter for more events.
 */
export type Emit<M extends EventMap> = (...event: EventOf<M>) => void;

type Listener<M extends EventMap> = (...event: EventOf<M>) => void;

/**
 * Every event is also published on the diagnostics channel `sluice`, as `{name, facts}`, synchronously and before
 * `emit` returns. External observers, such as a tracer or a test that kills the process at a durable step, need no
 * other hook.
 */
const outside = channel('sluice');

/** A small synchronous event hub. A subscriber that throws doesn't affect the others or the emitter. */
export class Events<M extends EventMap> {
  readonly #listeners = new Set<Listener<M>>();

  /** Subscribes to all events; the returned function unsubscribes. */
  listen(listener: Listener<M>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly emit: Emit<M> = (...event) => {
    for (const listener of this.#listeners) {
      try {
        listener(...event);
      } catch {
        // A subscriber's error must not fail the run.
      }
    }
    if (outside.hasSubscribers) outside.publish({ name: event[0], facts: event[1] });
  };
}
