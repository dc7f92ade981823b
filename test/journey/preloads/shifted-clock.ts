/** Shifts the wall clock of this process by CLOCK_SHIFT_MS, as if the machine's clock had been set. */
const shift = Number(process.env.CLOCK_SHIFT_MS ?? '0');
const RealDate = Date;
const realNow = Date.now;

globalThis.Date = class extends RealDate {
  constructor(...given: [] | [number | string | Date]) {
    if (given.length === 0) super(realNow() + shift);
    else super(...given);
  }

  static override now(): number {
    return realNow() + shift;
  }
} as DateConstructor;
