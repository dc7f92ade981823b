import { didYouMean } from '../../lib/nearest.ts';
import { isObject, textOf } from '../service/exact-json.ts';
import type { ItemCondition, Step } from './path-syntax.ts';
import type { Place } from './place.ts';

/** A place, and how many of its steps have been taken. */
export interface PlaceState {
  readonly place: number;
  readonly at: number;
}

const maxNames = 20;

/** The value of a list or object that is too large to keep. */
export const tooLargeToKeep = { list: ['…'], object: { '…': true } } as const;

/**
 * Finds the values at several places while a document is read. The reader reports each member and item on the way to a
 * place, and passes the values that it reads. Memory doesn't depend on the size of the document.
 *
 * If a path leads to several values, the first one counts. If a filter matches no item of an existing list, the value is
 * null, because the server has listed everything that there is, as with `links`. But if an item that doesn't match says
 * `next`, the filter may be wrong, and there is no value.
 */
export class PlaceFinder {
  /** The values that were found, including null, by the places' texts. */
  readonly values = new Map<string, unknown>();
  /** Names in the objects on the way to the places, by the objects' paths. */
  readonly #names = new Map<string, string[]>();
  readonly #places: readonly Place[];
  /** The next states by name, for each list of states. */
  readonly #onward = new WeakMap<readonly PlaceState[], Map<string, readonly PlaceState[]>>();
  readonly #filtered = new Set<number>();
  readonly #doubtful = new Set<number>();

  constructor(places: readonly Place[]) {
    this.#places = [...new Map(places.map((place) => [place.text, place])).values()];
  }

  /** Whether a place is in the last record. */
  get wantsLastRecord(): boolean {
    return this.#places.some(({ from }) => from === 'last_record');
  }

  /** The states at the document's root. */
  start(): readonly PlaceState[] {
    return this.#places.flatMap(({ from }, place) => (from === 'body' ? [{ place, at: 0 }] : []));
  }

  /** The states inside the member with this name, or the item with this index. */
  inside(states: readonly PlaceState[], name: string): readonly PlaceState[] {
    if (states.length === 0) return states;
    const onward = this.#onward.get(states) ?? this.#compile(states);
    return onward.get(name) ?? onward.get('*') ?? none;
  }

  /** Remembers a name inside an object on the way to a place, for error messages. */
  meet(path: string, name: string): void {
    const names = this.#names.get(path);
    if (names === undefined) this.#names.set(path, [name]);
    else if (names.length < maxNames && !names.includes(name)) names.push(name);
  }

  /** Whether all steps have been taken. */
  isDone({ place, at }: PlaceState): boolean {
    return at === this.#places[place]!.steps.length;
  }

  /** The next step. */
  step({ place, at }: PlaceState): Step | undefined {
    return this.#places[place]!.steps[at];
  }

  /** Whether the next step selects items by their content or position, so that items must be read whole. */
  isSelecting(state: PlaceState): boolean {
    return typeof this.step(state) === 'object';
  }

  /** Whether the next step is the last one, and selects every member or item. */
  isEachOfLast({ place, at }: PlaceState): boolean {
    const { steps } = this.#places[place]!;
    return at === steps.length - 1 && steps[at] === '*';
  }

  /**
   * Takes the values from the value at these states.
   * @returns a place that leads to two values although it should lead to one; otherwise, undefined.
   */
  take(states: readonly PlaceState[], value: unknown): string | undefined {
    for (const state of states) {
      const twice = this.#take(state, value);
      if (twice !== undefined) return twice;
    }
    return undefined;
  }

  /** Takes the values from an item of the list at these states, if their next step selects items. */
  takeItem(states: readonly PlaceState[], item: unknown): void {
    for (const state of states) {
      const step = this.step(state);
      if (typeof step !== 'object') continue;
      if ('where' in step) this.#test(state, step.where, item);
      else this.#takeLast(state, item);
    }
  }

  /** Takes the values from the last record. */
  takeLastRecord(record: unknown): void {
    for (const [place, { from }] of this.#places.entries()) {
      if (from === 'last_record') this.#take({ place, at: 0 }, record);
    }
  }

  /** Call this after the document's end. */
  end(): void {
    for (const place of this.#filtered) {
      const { text } = this.#places[place]!;
      if (!this.values.has(text) && !this.#doubtful.has(place)) this.values.set(text, null);
    }
  }

  /** What the document contains at the nearest existing part of a path, for error messages. */
  nearby(path: string): string | undefined {
    const bare = path.replace(/^\$\.?/, '').replaceAll(/\[['"]?([^\]'"]*)['"]?\]/g, '.$1');
    const within = [...this.#names.keys()].filter((one) => one === '' || bare.startsWith(`${one}.`));
    const nearest = within.toSorted((a, b) => b.length - a.length)[0];
    if (nearest === undefined) return undefined;
    const names = this.#names.get(nearest)!;
    const wanted = bare.slice(nearest === '' ? 0 : nearest.length + 1).split('.')[0]!;
    const advice = names.includes(wanted) ? undefined : didYouMean(wanted, names);
    const place = nearest === '' ? 'the document' : `\`${nearest}\``;
    return `${place} contains ${names.join(', ')}${advice === undefined ? '' : `; ${advice}`}`;
  }

  #compile(states: readonly PlaceState[]): Map<string, readonly PlaceState[]> {
    const every = states.flatMap((state) => (this.step(state) === '*' ? [onward(state, 1)] : []));
    const byName = new Map<string, readonly PlaceState[]>([['*', every]]);
    for (const state of states) {
      const { steps } = this.#places[state.place]!;
      // A name may contain dots, such as `@odata.nextLink`.
      for (let end = state.at + 1, name = ''; end <= steps.length; end++) {
        const step = steps[end - 1]!;
        if (typeof step !== 'string' || step === '*') break;
        name = end === state.at + 1 ? step : `${name}.${step}`;
        byName.set(name, [...(byName.get(name) ?? every), onward(state, end - state.at)]);
      }
    }
    this.#onward.set(states, byName);
    return byName;
  }

  #take(state: PlaceState, value: unknown): string | undefined {
    if (this.isDone(state)) return this.#found(state.place, value);
    const step = this.step(state)!;
    if (typeof step === 'object') {
      if ('last' in step) this.#takeLast(state, Array.isArray(value) ? value.at(-1) : value);
      else for (const item of Array.isArray(value) ? value : [value]) this.#test(state, step.where, item);
      return undefined;
    }
    if (Array.isArray(value)) return this.#takeFrom(state, value.entries());
    return isObject(value) ? this.#takeFrom(state, Object.entries(value)) : undefined;
  }

  #takeFrom(state: PlaceState, members: Iterable<readonly [number | string, unknown]>): string | undefined {
    const states = [state];
    for (const [name, value] of members) {
      const twice = this.take(this.inside(states, String(name)), value);
      if (twice !== undefined) return twice;
    }
    return undefined;
  }

  #takeLast(state: PlaceState, item: unknown): void {
    this.values.delete(this.#places[state.place]!.text);
    if (item !== undefined) this.#take(onward(state, 1), item);
  }

  #test(state: PlaceState, where: readonly ItemCondition[], item: unknown): void {
    this.#filtered.add(state.place);
    if (where.every((one) => isMet(one, item))) this.#take(onward(state, 1), item);
    else if (saysNext(item)) this.#doubtful.add(state.place);
  }

  #found(place: number, value: unknown): string | undefined {
    const { text, steps } = this.#places[place]!;
    if (!this.values.has(text)) this.values.set(text, value);
    else if (steps.every((step) => typeof step === 'string' && step !== '*')) return text;
    return undefined;
  }
}

const none: readonly PlaceState[] = [];

const onward = ({ place, at }: PlaceState, by: number): PlaceState => ({ place, at: at + by });

function isMet({ path, is, isNegated }: ItemCondition, item: unknown): boolean {
  let value = item;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  if (is === undefined) return value !== undefined;
  const isEqual = is === null ? value === null : textOf(value) === String(is);
  return isEqual !== isNegated;
}

/** Whether a link in a list of links leads to the next page. */
function saysNext(item: unknown): boolean {
  return isObject(item) && Object.values(item).some((value) => typeof value === 'string' && /^next$/i.test(value));
}
