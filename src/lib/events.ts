import { channel } from 'node:diagnostics_channel';

/** A map from event name (past tense, `noun.verb`) to the facts that it carries. Facts are JSON-safe. */
export type EventMap = Record<string, object>;

/** One emit, many readers: log, metrics, history, progress and console all listen here. */
export type Emit<M extends EventMap> = <K extends keyof M & string>(name: K, facts: M[K]) => void;

type Listener<M extends EventMap> = <K extends keyof M & string>(name: K, facts: M[K]) => void;

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

  readonly emit: Emit<M> = (name, facts) => {
    for (const listener of this.#listeners) {
      try {
        listener(name, facts);
      } catch {
        // A reader's fault is never the run's fault.
      }
    }
    if (outside.hasSubscribers) outside.publish({ name, facts });
  };
}
