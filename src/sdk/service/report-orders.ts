import { parseExact } from './exact-json.ts';

/** A report that was ordered from the vendor. */
export interface ReportOrder {
  /** What was kept of the vendor's answer, for `job` in templates. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** When it was ordered, epoch milliseconds. */
  readonly at: number;
  /** The vendor was told to start, if it wants that. */
  readonly isStarted: boolean;
}

/** The reports that a run has ordered, by a hash of the order. Each attempt of the run continues with those of the one before. */
export class ReportOrders {
  readonly #texts: Map<string, string>;
  /** What earlier attempts have ordered and this one has not asked for yet. */
  readonly #earlier: Map<string, string>;

  /** `texts` is what the attempts share. */
  constructor(texts = new Map<string, string>()) {
    this.#texts = texts;
    this.#earlier = new Map(texts);
  }

  /** What an earlier attempt has ordered; once only, since an attempt that orders twice wants two reports. */
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
