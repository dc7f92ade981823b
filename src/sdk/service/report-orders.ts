import { parseExact } from './exact-json.ts';

/** A requested report. */
export interface ReportOrder {
  /** Values kept from the vendor's response, for `job` in templates. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** When the report was requested, in epoch milliseconds. */
  readonly at: number;
  /** Whether the start call was sent, if the vendor requires such a call. */
  readonly isStarted: boolean;
}

/**
 * A run's report requests, by a hash of the request. Each attempt continues with the reports that the previous attempt
 * requested.
 */
export class ReportOrders {
  readonly #texts: Map<string, string>;
  /** Reports that earlier attempts requested and that this attempt hasn't claimed yet. */
  readonly #earlier: Map<string, string>;

  /** `texts`: the strings that the attempts share. */
  constructor(texts = new Map<string, string>()) {
    this.#texts = texts;
    this.#earlier = new Map(texts);
  }

  /**
   * Claims a report that an earlier attempt requested. Each report can be claimed only once, because an attempt that
   * makes the same request twice needs two reports.
   */
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
