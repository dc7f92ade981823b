import type { Envelope } from '../service.ts';
import type { Dice } from './dice.ts';

/**
 * Something that exists or has existed: the kind of its URL, as in {@link Operation.places}, and the IDs in that URL.
 */
interface Thing {
  readonly place: string;
  readonly ids: readonly string[];
}

const anyId = /[0-9a-f]{32}/g;
const mostValues = 20;

/** The IDs in a text. */
export const idsIn = (text: string): string[] => text.match(anyId) ?? [];

/** What responses have revealed about one account: its assets and the values of their fields. */
export class Known {
  readonly #places: ReadonlySet<string>;
  readonly #spared: string;
  readonly #things = new Map<string, Map<string, Thing>>();
  /** By field name, and by path and field name. */
  readonly #values = new Map<string, unknown[]>();

  /** Never stores the asset with the ID `spared`. */
  constructor(places: ReadonlySet<string>, spared: string) {
    this.#places = places;
    this.#spared = spared;
  }

  /** Stores what a response from this path contains; the path has no prefix and no query. */
  learn(method: string, path: string, { meta, data }: Envelope): void {
    if (method === 'DELETE') this.#forget(path);
    for (const place of [meta.location, meta.instance_location]) if (place !== undefined) this.add(place);
    for (const [name, value] of Object.entries(data ?? {})) {
      if (Array.isArray(value)) {
        for (const item of value as ({ id?: unknown } | null)[]) {
          if (typeof item?.id === 'string') this.add(`${path}/${item.id}`);
        }
      }
      if (method === 'GET') this.#keep(path, name, value);
    }
  }

  /** Adds the asset at this path if an operation can name it. */
  add(path: string): void {
    const place = path.replaceAll(anyId, '{}');
    if (!this.#places.has(place) || path.includes(this.#spared)) return;
    const things = this.#things.get(place) ?? new Map<string, Thing>();
    this.#things.set(place, things.set(path, { place, ids: idsIn(path) }));
  }

  /** All assets of a kind. */
  of(place: string): Thing[] {
    return [...(this.#things.get(place)?.values() ?? [])];
  }

  /** The ID of an asset of this kind, or of any asset if there is none. */
  id(place: string, dice: Dice): string | undefined {
    const kind = this.#things.has(place) ? place : dice.pick([...this.#things.keys()]);
    return dice.pick(this.of(kind ?? ''))?.ids.at(-1);
  }

  /** All assets, ordered by kind. */
  all(): Thing[] {
    return [...this.#things.values()].flatMap((things) => [...things.values()]);
  }

  /** A value that a field with this name had, preferably one that was read from this path. */
  value(path: string, name: string, dice: Dice): unknown {
    return dice.pick(this.#values.get(`${path} ${name}`) ?? this.#values.get(name) ?? []);
  }

  #keep(path: string, name: string, value: unknown): void {
    if ((JSON.stringify(value) ?? '').length > 20_000) return;
    for (const key of [name, `${path} ${name}`]) {
      this.#values.set(key, [value, ...(this.#values.get(key) ?? [])].slice(0, mostValues));
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const [inner, deeper] of Object.entries(value)) {
      this.#keep(path, 'name', inner);
      this.#keep(path, inner, deeper);
    }
  }

  #forget(path: string): void {
    const gone = idsIn(path).at(-1);
    for (const things of this.#things.values()) {
      for (const [key, { ids }] of things) if (gone !== undefined && ids.includes(gone)) things.delete(key);
    }
  }
}
