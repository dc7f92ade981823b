import { Repository } from './engine/context.ts';

/** Stores small named values that must survive the process and don't fit into another table. */
export class Settings extends Repository {
  async set(name: string, value: string): Promise<void> {
    await this.context.db
      .insertInto('settings')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  }

  /** Sets the value unless one is set, and returns the value that is then set. */
  async addOnce(name: string, value: string): Promise<string> {
    const values = { name, value };
    await this.context.db
      .insertInto('settings')
      .values(values)
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    return (await this.find(name)) ?? value;
  }

  async forget(...names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.context.db.deleteFrom('settings').where('name', 'in', names).execute();
  }

  async find(name: string): Promise<string | undefined> {
    const row = await this.context.db
      .selectFrom('settings')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst();
    return row?.value;
  }

  /** Returns all settings whose names start with `prefix`. */
  async below(prefix: string): Promise<readonly { readonly name: string; readonly value: string }[]> {
    return this.#below(prefix).select(['name', 'value']).execute();
  }

  /** Returns the names of all settings whose names start with `prefix`. */
  async namesBelow(prefix: string): Promise<readonly string[]> {
    const rows = await this.#below(prefix).select('name').execute();
    return rows.map(({ name }) => name);
  }

  #below(prefix: string) {
    const rows = this.context.db.selectFrom('settings').where('name', '>=', prefix);
    return rows.where('name', '<', `${prefix}\uffff`).orderBy('name');
  }
}
