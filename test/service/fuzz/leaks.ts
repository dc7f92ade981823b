import { idsIn } from './known.ts';
import { type Caller, type Family, idOf, markerOf } from './people.ts';

/** Checks that no caller sees what belongs to other accounts. */
export class Leaks {
  readonly #families: readonly Family[];
  /** IDs that belong to each family, and IDs that the family itself has sent. */
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

  /** Records what a caller sends, because a response may contain it. */
  sent(caller: Caller, text: string): void {
    const sent = this.#sent.get(this.#familyOf(caller).name)!;
    for (const id of idsIn(text)) sent.add(id);
  }

  /** Records the IDs of what the service creates or stores for this caller. */
  answered(caller: Caller, text: string): void {
    const { name } = this.#familyOf(caller);
    const foreign = [...this.#owned].filter(([owner]) => owner !== name).map(([, ids]) => ids);
    for (const id of idsIn(text)) if (!foreign.some((ids) => ids.has(id))) this.#owned.get(name)!.add(id);
  }

  /** What this caller must not see: markers of accounts that they can't access, and another company's IDs. */
  in(caller: Caller, text: string): string[] {
    const { name } = this.#familyOf(caller);
    const lower = text.toLowerCase();
    const hidden = this.#families.flatMap(({ accounts }) => accounts).filter((one) => !caller.sees.includes(one));
    const words = hidden.filter((account) => lower.includes(markerOf(account)));
    const others = [...this.#owned].filter(([owner]) => owner !== name);
    const told = new Set(idsIn(text.replace(/"error_id":"\w+"/, ''))).difference(this.#sent.get(name)!);
    const ids = others.flatMap(([, owned]) => [...told.intersection(owned)]);
    return [
      ...words.map((account) => `it reveals a text of ${account}`),
      ...ids.map((id) => `it reveals the foreign ID ${id}`),
    ];
  }

  #familyOf({ account }: Caller): Family {
    return this.#families.find(({ accounts }) => accounts.includes(account))!;
  }
}
