import { newId } from '../../lib/ids.ts';
import { forbidden } from '../http/api-error.ts';
import { checkRule, describeRule, type FaultRule, takesEffect } from './fault-rule.ts';
import { pathPattern } from './path-pattern.ts';

export interface MatchedFault {
  readonly rule: FaultRule;
  /** The rule's ID and its effect, for the request log. */
  readonly description: string;
}

/** A rule and its counters. */
export interface FaultRuleState {
  readonly id: string;
  readonly rule: FaultRule;
  /** Number of requests that matched the rule's method and path. */
  readonly seen: number;
  /** Number of requests that the rule was applied to. */
  readonly hits: number;
  readonly takesEffect: boolean;
}

/** Fault rules for tests, in the order in which they were added. */
export class FaultRules {
  readonly #rules = new Map<string, Rule>();

  /** Adds a rule and returns its ID. Throws an ApiError: 400 if the rule is invalid, 403 if the ID already exists. */
  add(given: FaultRule): string {
    checkRule(given);
    const id = given.id ?? newId().slice(0, 8);
    if (this.#rules.has(id)) throw forbidden(`A fault with this id already exists: ${id}`);
    this.#rules.set(id, new Rule(id, given));
    return id;
  }

  all(): FaultRuleState[] {
    return [...this.#rules.values()].map((rule) => rule.state());
  }

  one(id: string): FaultRuleState | undefined {
    return this.#rules.get(id)?.state();
  }

  /** Removes a rule. Returns whether the rule existed. */
  remove(id: string): boolean {
    return this.#rules.delete(id);
  }

  /** Removes all rules. Returns the number of removed rules. */
  clear(): number {
    const { size } = this.#rules;
    this.#rules.clear();
    return size;
  }

  /** Counts the request for every matching rule, and returns the first rule that is due. */
  match(method: string, path: string): MatchedFault | undefined {
    const due = [...this.#rules.values()].filter((rule) => rule.isDue(method, path));
    return due[0]?.hit();
  }
}

class Rule {
  readonly #id: string;
  readonly #given: FaultRule;
  readonly #fits: (path: string) => boolean;
  readonly #random: () => number;
  #seen = 0;
  #hits = 0;

  constructor(id: string, given: FaultRule) {
    this.#id = id;
    this.#given = given;
    this.#fits = given.path === undefined ? () => true : pathPattern(given.path);
    this.#random = given.seed === undefined ? Math.random : seededRandom(given.seed);
  }

  /** Counts the request if it matches the rule. */
  isDue(method: string, path: string): boolean {
    const { method: only, times = Number.POSITIVE_INFINITY } = this.#given;
    if ((only !== undefined && only.toUpperCase() !== method) || !this.#fits(path)) return false;
    this.#seen += 1;
    return this.#isTurn() && this.#hits < times;
  }

  #isTurn(): boolean {
    const { nth, every, first, probability } = this.#given;
    if (nth !== undefined) return this.#seen === nth;
    if (every !== undefined) return this.#seen % every === 0;
    if (first !== undefined) return this.#seen <= first;
    return probability === undefined || this.#random() < probability;
  }

  hit(): MatchedFault {
    this.#hits += 1;
    return { rule: this.#given, description: `${this.#id}: ${describeRule(this.#given)}` };
  }

  state(): FaultRuleState {
    const rule = this.#given;
    return { id: this.#id, rule, seen: this.#seen, hits: this.#hits, takesEffect: takesEffect(rule) };
  }
}

/**
 * A seeded pseudorandom number generator (mulberry32, public domain) that returns values in [0, 1). The seed makes
 * tests with random faults repeatable. Don't use it for secrets.
 */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
