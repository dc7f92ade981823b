/**
 * Shifts the wall clock of this process by CLOCK_SHIFT_MS, as if the machine's clock had been set, or stops it at CLOCK_AT
 * (epoch milliseconds).
 */
const { CLOCK_SHIFT_MS = '0', CLOCK_AT } = process.env;
const RealDate = Date;
const realNow = Date.now;
const now = (): number => (CLOCK_AT === undefined ? realNow() + Number(CLOCK_SHIFT_MS) : Number(CLOCK_AT));

globalThis.Date = class extends RealDate {
  constructor(...given: [] | [number | string | Date]) {
    if (given.length === 0) super(now());
    else super(...given);
  }

  static override now(): number {
    return now();
  }
} as DateConstructor;
