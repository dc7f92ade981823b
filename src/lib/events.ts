import { channel } from 'node:diagnostics_channel';

/** A map from event name (past tense, `noun.verb`) to the facts that it carries. Facts are JSON-safe. */
export type EventMap = Record<string, object>;

/** Every event of a map as the pair that is emitted; comparing the name narrows the facts. */
type EventOf<M extends EventMap> = { [K in keyof M & string]: [name: K, facts: M[K]] }[keyof M & string];

/**
 * One emitter, many listeners: log, metrics, history, progress and console. An emitter of more events may be passed to code
 * that emits only some of them.
 */
export type Emit<M extends EventMap> = (...event: EventOf<M>) => void;

type Listener<M extends EventMap> = (...event: EventOf<M>) => void;

/**
 * Every event is also published on the diagnostics channel `sluice`, as `{name, facts}`, synchronously and before
 * `emit` returns. Outside observers (a tracer, a test that kills the process at a durable step) need nothing else.
 */
const outside = channel('sluice');

/** A small synchronous event hub. A listener that throws stops neither the others nor the emitter. */
export class Events<M extends EventMap> {
  readonly #listeners = new Set<Listener<M>>();

  /** Starts listening to everything; the function returned stops it. */
  listen(listener: Listener<M>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly emit: Emit<M> = (...event) => {
    for (const listener of this.#listeners) {
      try {
        listener(...event);
      } catch {
        // A reader's fault is never the run's fault.
      }
    }
    if (outside.hasSubscribers) outside.publish({ name: event[0], facts: event[1] });
  };
}
