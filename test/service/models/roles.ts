import { permissions as all } from '../../../src/service/auth/permissions.ts';
import type { Bench } from '../service.ts';

/** A model of roles with their members and permissions. It needs no service. */

export type Person = 'ada' | 'bob' | 'cy' | 'dee';

interface Role {
  readonly id: string;
  readonly builtIn?: boolean;
  permissions: readonly string[];
}

const viewOnly = ['dashboard.library', 'dashboard.tab', 'dashboard.annotation.view'];

/** Each method returns the refusal's status, or nothing if the call is allowed. */
export class Roles {
  readonly roles: Role[] = [];
  /** Each user's role: its ID, or its name until the service is first read. */
  readonly held: Map<Person, string | null>;
  #knowsAll = false;
  #admin = 'Admin';
  readonly #given: { readonly key: string; readonly managed: readonly string[] };

  constructor(held: Readonly<Record<Person, string>>, given: { key: string; managed: readonly string[] }) {
    this.held = new Map(Object.entries(held) as [Person, string][]);
    this.#given = given;
  }

  /** One of the roles. The IDs of the built-in ones must be read once, before anything else. */
  async known(at: number, service: Bench): Promise<Role> {
    if (!this.#knowsAll) await this.#ask(service);
    return this.roles[at % this.roles.length]!;
  }

  async #ask(service: Bench): Promise<void> {
    const { body } = await service.call('GET', '/roles', { key: this.#given.key });
    const found = body.data.roles as { id: string; name: string }[];
    const permissions: Record<string, readonly string[]> = {
      Admin: all,
      'View-Only': viewOnly,
      Manager: this.#given.managed,
    };
    for (const { id, name } of found.filter((one) => one.name in permissions)) {
      this.roles.unshift({ id, builtIn: name !== 'Manager', permissions: permissions[name]! });
      for (const [person, role] of this.held) if (role === name) this.held.set(person, id);
      if (name === 'Admin') this.#admin = id;
    }
    this.#knowsAll = true;
  }

  admins(): Person[] {
    return [...this.held].filter(([, role]) => role === this.#admin).map(([person]) => person);
  }

  holdersOf({ id }: Role): Person[] {
    return [...this.held].filter(([, role]) => role === id).map(([person]) => person);
  }

  drop(role: Role): void {
    this.roles.splice(this.roles.indexOf(role), 1);
    for (const person of this.holdersOf(role)) this.held.set(person, null);
  }

  there(person: Person): 404 | undefined {
    return this.held.has(person) ? undefined : 404;
  }

  mayManage(person: Person): 401 | undefined {
    return this.#permissions(person).includes('user.manage') ? undefined : 401;
  }

  /** Only admins assign and remove roles. */
  mayRule(person: Person): 401 | undefined {
    return this.#isAdmin(person) ? undefined : 401;
  }

  /** Users can't remove a user who has more permissions. */
  masters(person: Person, other: Person): 403 | undefined {
    if (this.#isAdmin(person) || person === other) return undefined;
    const own = this.#permissions(person);
    const less = !this.#isAdmin(other) && this.#permissions(other).every((name) => own.includes(name));
    return less ? undefined : 403;
  }

  /** The last admin keeps the role. */
  mayLose(person: Person): 403 | undefined {
    return this.#isAdmin(person) && this.admins().length === 1 ? 403 : undefined;
  }

  #isAdmin(person: Person): boolean {
    return this.held.get(person) === this.#admin;
  }

  #permissions(person: Person): readonly string[] {
    return this.roles.find(({ id }) => id === this.held.get(person))?.permissions ?? [];
  }
}
