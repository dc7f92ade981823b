import { parseExact } from './exact-json.ts';

/** An ordered report. */
export interface ReportOrder {
  /** Kept values of the vendor's response, for `job` in templates. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** When it was ordered, epoch milliseconds. */
  readonly at: number;
  /** Whether the start call was sent, if the vendor requires one. */
  readonly isStarted: boolean;
}

/** The ordered reports of a run, by a hash of the order. Each attempt of the run continues with the orders of the previous one. */
export class ReportOrders {
  readonly #texts: Map<string, string>;
  /** Orders of earlier attempts that this one has not claimed yet. */
  readonly #earlier: Map<string, string>;

  /** `texts`: the strings that the attempts share. */
  constructor(texts = new Map<string, string>()) {
    this.#texts = texts;
    this.#earlier = new Map(texts);
  }

  /** Claims the order of an earlier attempt; each only once, because an attempt that orders twice needs two reports. */
  take(key: string): ReportOrder | undefined {
    const text = this.#earlier.get(key);
    this.#earlier.delete(key);
    return text === undefined ? undefined : (parseExact(text) as ReportOrder);
  }

  keep(key: string, order: ReportOrder): void {
    this.#texts.set(key, JSON.stringify(order));
  }

  forget(key: string): void {
    this.#texts.delete(key);
  }
}
