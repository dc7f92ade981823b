import { idsIn } from './known.ts';
import { type Caller, type Family, idOf, markerOf } from './people.ts';

/** Checks that no caller is shown what belongs to others. */
export class Leaks {
  readonly #families: readonly Family[];
  /** Ids of what each family has, and ids that it has sent itself. */
  readonly #owned = new Map<string, Set<string>>();
  readonly #sent = new Map<string, Set<string>>();

  constructor(families: readonly Family[]) {
    this.#families = families;
    for (const { name, accounts, callers } of families) {
      const people = callers.filter(({ sees }) => sees.length > 0);
      const groups = accounts.map((account) => idOf(`${account} group`));
      this.#owned.set(name, new Set([...accounts.map(idOf), ...groups, ...people.map((one) => idOf(one.name))]));
      this.#sent.set(name, new Set());
    }
  }

  /** Takes down what a caller sends: they may get it back. */
  sent(caller: Caller, text: string): void {
    const sent = this.#sent.get(this.#familyOf(caller).name)!;
    for (const id of idsIn(text)) sent.add(id);
  }

  /** Takes down the ids of what the service made for this caller, or has of theirs. */
  answered(caller: Caller, text: string): void {
    const { name } = this.#familyOf(caller);
    const foreign = [...this.#owned].filter(([owner]) => owner !== name).map(([, ids]) => ids);
    for (const id of idsIn(text)) if (!foreign.some((ids) => ids.has(id))) this.#owned.get(name)!.add(id);
  }

  /** What this caller must not be told: words of accounts that they do not see, ids of another company's. */
  in(caller: Caller, text: string): string[] {
    const { name } = this.#familyOf(caller);
    const lower = text.toLowerCase();
    const hidden = this.#families.flatMap(({ accounts }) => accounts).filter((one) => !caller.sees.includes(one));
    const words = hidden.filter((account) => lower.includes(markerOf(account)));
    const others = [...this.#owned].filter(([owner]) => owner !== name);
    const told = new Set(idsIn(text.replace(/"error_id":"\w+"/, ''))).difference(this.#sent.get(name)!);
    const ids = others.flatMap(([, owned]) => [...told.intersection(owned)]);
    return [
      ...words.map((account) => `it tells a text of ${account}`),
      ...ids.map((id) => `it tells the foreign id ${id}`),
    ];
  }

  #familyOf({ account }: Caller): Family {
    return this.#families.find(({ accounts }) => accounts.includes(account))!;
  }
}
