/** A model of sharing: who may see and change what. It needs no service. */

export type Person = 'admin' | 'ann' | 'ben' | 'cleo';
export type Group = 'team' | 'crew';
export type Holder = { readonly kind: 'group'; readonly id: string } | { readonly kind: 'user'; readonly id: string };

interface Asset {
  readonly id: string;
  readonly creator: Person;
  /** `kind id` to whether they may change it. */
  readonly rights: Map<string, boolean>;
}

const named = ({ kind, id }: Holder): string => `${kind} ${id}`;

export class Shares {
  readonly assets: Asset[] = [];
  readonly members = new Map<Group, Set<Person>>([
    ['team', new Set<Person>(['ben'])],
    ['crew', new Set<Person>()],
  ]);

  add(creator: Person, id: string): void {
    this.assets.push({ id, creator, rights: new Map() });
  }

  remove(asset: Asset): void {
    this.assets.splice(this.assets.indexOf(asset), 1);
  }

  /** Deletes the group and everything shared with it. */
  dissolve(group: Group): void {
    this.members.delete(group);
    for (const { rights } of this.assets) rights.delete(`group ${group}`);
  }

  sees(person: Person, asset: Asset): boolean {
    return person === 'admin' || asset.creator === person || this.#held(person, asset).length > 0;
  }

  changes(person: Person, asset: Asset): boolean {
    return person === 'admin' || asset.creator === person || this.#held(person, asset).includes(true);
  }

  seenBy(person: Person): string[] {
    return this.assets.filter((asset) => this.sees(person, asset)).map(({ id }) => id);
  }

  rightsOf({ rights }: Asset, kind: Holder['kind']): [string, boolean][] {
    const own = [...rights].filter(([name]) => name.startsWith(`${kind} `));
    return own.map(([name, canEdit]) => [name.slice(kind.length + 1), canEdit] as [string, boolean]).sort();
  }

  /** Shares the asset if possible. Returns the response's status. */
  share(asset: Asset, holder: Holder, canEdit: boolean): number {
    const there = this.#status(holder);
    if (there === 200) asset.rights.set(named(holder), canEdit);
    return there;
  }

  /** The same for removing rights. */
  unshare(asset: Asset, holder: Holder): number {
    if (this.#status(holder) === 404) return 404;
    return asset.rights.delete(named(holder)) ? 200 : 403;
  }

  #status({ kind, id }: Holder): number {
    if (id.startsWith('other')) return 403;
    const there = kind === 'group' ? this.members.has(id as Group) : ['admin', 'ann', 'ben', 'cleo'].includes(id);
    return there ? 200 : 404;
  }

  #held(person: Person, { rights }: Asset): boolean[] {
    const groups = [...this.members].filter(([, members]) => members.has(person)).map(([group]) => `group ${group}`);
    return [`user ${person}`, ...groups].flatMap((name) => rights.get(name) ?? []);
  }
}
