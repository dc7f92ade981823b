/** Values are counted exactly up to this number of values and this total length. */
const maxExactValues = 1000;
const maxExactCharacters = 64 * 1024;
/** With 4,096 registers, the standard error is 1.04 / √4096, or 1.6 %. */
const indexBits = 12;
const registers = 1 << indexBits;

export interface DistinctResult {
  readonly count: number;
  /** False if the count is an estimate, which is usually within 2 % of the exact count. */
  readonly exact: boolean;
}

/**
 * Counts distinct values in constant memory. Small counts are exact; larger ones are estimated with HyperLogLog
 * (Flajolet et al., 2007), which uses linear counting for low estimates.
 */
export class DistinctCount {
  #exact: Set<string> | undefined = new Set();
  #characters = 0;
  #added = 0;
  #registers: Uint8Array | undefined;

  add(text: string): void {
    this.#added += 1;
    if (this.#exact === undefined) {
      this.#note(text);
      return;
    }
    if (this.#exact.has(text)) return;
    this.#exact.add(text);
    this.#characters += text.length;
    if (this.#exact.size <= maxExactValues && this.#characters <= maxExactCharacters) return;
    for (const value of this.#exact) this.#note(value);
    this.#exact = undefined;
  }

  get value(): DistinctResult {
    if (this.#exact !== undefined) return { count: this.#exact.size, exact: true };
    // An estimate may exceed the total number of values, so limit it to that number.
    return { count: Math.min(this.#added, Math.round(estimate(this.#registers!))), exact: false };
  }

  #note(text: string): void {
    this.#registers ??= new Uint8Array(registers);
    const [index, bits] = hashes(text);
    const at = index & (registers - 1);
    this.#registers[at] = Math.max(this.#registers[at]!, Math.clz32(bits) + 1);
  }
}

function estimate(all: Uint8Array): number {
  let sum = 0;
  let empty = 0;
  for (const register of all) {
    sum += 2 ** -register;
    if (register === 0) empty += 1;
  }
  const raw = ((0.7213 / (1 + 1.079 / registers)) * registers * registers) / sum;
  return raw <= 2.5 * registers && empty > 0 ? registers * Math.log(registers / empty) : raw;
}

/** Computes two 32-bit hashes with multiplication and MurmurHash3's final mix. */
function hashes(text: string): [number, number] {
  let [a, b] = [0x9e3779b1, 0x85ebca77];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x85ebca6b);
    a ^= a >>> 15;
    b = Math.imul(b ^ unit, 0xc2b2ae35);
    b ^= b >>> 13;
  }
  return [mixed(a ^ text.length), mixed(b + a)];
}

function mixed(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
