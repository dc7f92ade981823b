/** Moves this process's wall clock by CLOCK_SHIFT_MS, as a machine whose clock was set would see it. */
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
