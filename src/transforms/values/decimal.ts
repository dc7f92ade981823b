import Big from 'big.js';

/**
 * Largest number of units that is always exact as a JavaScript number. Up to this number, dividing by a power of ten
 * doesn't change the order of values.
 */
const safe = Number.MAX_SAFE_INTEGER;
const powers = Array.from({ length: 16 }, (_, scale) => 10 ** scale);
/** Minimum number of digits after the decimal point to which a quotient is calculated. */
const divisionScale = 10;
const shape = /^-?\d+(?:\.\d+)?$/;

/**
 * An exact decimal with a scale: 1.50 keeps both digits after the point. A small decimal is stored as an integer number
 * of units and a scale, which needs no allocation. Larger decimals, and divisions, use big.js.
 *
 * Scales follow SQL. A sum has the larger scale of its operands, and a product has the sum of their scales. A quotient
 * is rounded half away from zero to ten digits after the point, or to more if an operand has more. Its trailing zeros
 * are then removed, but not below the dividend's scale.
 */
export class Decimal {
  /** The value times 10^scale. NaN if this isn't a safe integer; `big` then contains the value. */
  readonly units: number;
  readonly scale: number;
  readonly #big: Big | undefined;

  constructor(units: number, scale: number, big?: Big) {
    this.units = units;
    this.scale = scale;
    this.#big = big;
  }

  /**
   * Parses a canonical string (`-?digits[.digits]`). Returns undefined for any other string, including NaN and
   * Infinity.
   */
  static parse(text: string): Decimal | undefined {
    if (!shape.test(text)) return undefined;
    const point = text.indexOf('.');
    const scale = point < 0 ? 0 : text.length - point - 1;
    const units = point < 0 ? Number(text) : Number(text.slice(0, point) + text.slice(point + 1));
    if (Math.abs(units) > safe) return new Decimal(Number.NaN, scale, new Big(text));
    return new Decimal(units + 0, scale);
  }

  static ofInteger(value: bigint): Decimal {
    if (value >= -safe && value <= safe) return new Decimal(Number(value), 0);
    return new Decimal(Number.NaN, 0, new Big(value.toString()));
  }

  /**
   * Converts a float to the decimal with the shortest digits that identify the float. For example, 0.1 becomes exactly
   * one tenth. Returns undefined for NaN and infinities.
   */
  static ofFloat(value: number): Decimal | undefined {
    if (!Number.isFinite(value)) return undefined;
    const text = String(value);
    return Decimal.parse(text) ?? Decimal.ofBig(new Big(text));
  }

  /**
   * Converts a big.js number to a decimal that has the given scale or, by default, as many digits as the number. Rounds
   * half away from zero.
   */
  static ofBig(big: Big, scale: number = digitsAfterPoint(big)): Decimal {
    const rounded = big.round(scale, Big.roundHalfUp);
    return Decimal.parse(rounded.toFixed(scale)) ?? new Decimal(Number.NaN, scale, rounded);
  }

  get big(): Big {
    return this.#big ?? new Big(this.toString());
  }

  plus(other: Decimal): Decimal {
    const scale = Math.max(this.scale, other.scale);
    const units = this.#unitsAt(scale) + other.#unitsAt(scale);
    return Math.abs(units) <= safe ? new Decimal(units, scale) : Decimal.ofBig(this.big.plus(other.big), scale);
  }

  minus(other: Decimal): Decimal {
    return this.plus(other.negated());
  }

  times(other: Decimal): Decimal {
    const scale = this.scale + other.scale;
    const units = this.units * other.units;
    if (Math.abs(units) <= safe && scale < powers.length) return new Decimal(units + 0, scale);
    return Decimal.ofBig(this.big.times(other.big), scale);
  }

  /** The divisor must not be zero. */
  dividedBy(other: Decimal): Decimal {
    const scale = Math.max(this.scale, other.scale, divisionScale);
    const quotient = new (dividing(scale))(this.big).div(other.big);
    return Decimal.ofBig(quotient, Math.max(this.scale, digitsAfterPoint(quotient)));
  }

  /**
   * Returns the remainder of an integer division. The remainder has the sign of the dividend. The divisor must not be
   * zero.
   */
  remainder(other: Decimal): Decimal {
    return Decimal.ofBig(this.big.mod(other.big), Math.max(this.scale, other.scale));
  }

  negated(): Decimal {
    return this.#big === undefined
      ? new Decimal(0 - this.units, this.scale)
      : Decimal.ofBig(this.#big.neg(), this.scale);
  }

  /**
   * Rounds half away from zero to `scale` digits after the decimal point. If `scale` is negative, rounds to a digit
   * before the point. If the decimal has fewer digits, adds zeros.
   */
  rounded(scale: number): Decimal {
    if (scale >= 0) return this.#shortened(scale) ?? Decimal.ofBig(this.big, scale);
    const power = new Big(10).pow(-scale);
    return Decimal.ofBig(this.big.div(power).round(0, Big.roundHalfUp).times(power), 0);
  }

  /** Returns the integer part (rounds toward zero). */
  truncated(): bigint {
    return BigInt(this.big.round(0, Big.roundDown).toFixed(0));
  }

  get isZero(): boolean {
    return this.#big === undefined ? this.units === 0 : this.#big.eq(0);
  }

  /**
   * Compares two decimals by their values, so 1.5 equals 1.50. Returns a negative number, zero, or a positive number.
   */
  compare(other: Decimal): number {
    const scale = Math.max(this.scale, other.scale);
    const difference = this.#unitsAt(scale) - other.#unitsAt(scale);
    return Number.isNaN(difference) ? this.big.cmp(other.big) : difference;
  }

  toNumber(): number {
    return Number(this.toString());
  }

  /** Returns the canonical string, which has as many digits after the point as the scale. */
  toString(): string {
    if (this.#big !== undefined) return this.#big.toFixed(this.scale);
    if (this.scale === 0) return String(this.units);
    const digits = String(Math.abs(this.units)).padStart(this.scale + 1, '0');
    const point = digits.length - this.scale;
    return `${this.units < 0 ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
  }

  /**
   * Removes digits by calculating with integers, which is possible for most decimals. Returns undefined if it isn't.
   */
  #shortened(scale: number): Decimal | undefined {
    const dropped = this.scale - scale;
    if (Number.isNaN(this.units) || dropped < 0 || dropped >= powers.length) return undefined;
    const power = powers[dropped]!;
    const rest = this.units % power;
    const up = 2 * Math.abs(rest) >= power && dropped > 0 ? Math.sign(rest) : 0;
    return new Decimal((this.units - rest) / power + up, scale);
  }

  /** Returns the number of units at this scale. Returns NaN if it isn't a safe integer. */
  #unitsAt(scale: number): number {
    const missing = scale - this.scale;
    if (missing === 0) return this.units;
    const units = missing < powers.length ? this.units * powers[missing]! : Number.NaN;
    return Math.abs(units) <= safe ? units : Number.NaN;
  }
}

function digitsAfterPoint(big: Big): number {
  return Math.max(0, big.c.length - 1 - big.e);
}

/** Returns a big.js constructor for dividends. In big.js, the dividend's constructor determines a quotient's scale. */
function dividing(scale: number): Big.BigConstructor {
  const Strict = Big();
  Strict.DP = scale;
  Strict.RM = Big.roundHalfUp;
  return Strict;
}
