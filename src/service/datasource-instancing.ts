import { newId } from '../lib/ids.ts';
import type { Database } from './store/database.ts';
import type { Datasource } from './store/datasources.ts';
import { insertInstance, setProperties } from './store/instances.ts';

type NewSource = Omit<Datasource, 'dateLastRefresh' | 'disabled' | 'isDynamic'>;
type Properties = Readonly<Record<string, unknown>>;

const reference = /\{props\.([^{}]+)\}/g;

/**
 * Stores a source with its instances. One that refers to user properties (`{props.NAME}` in any of its texts) is
 * dynamic: it has an instance for each distinct set of values that the account's users have. Any other has one, whose
 * id is the source's.
 */
export function createInstances(
  db: Database,
  { source, properties }: { source: NewSource; properties: Properties },
  insert: (db: Database, source: NewSource & { isDynamic: 0 | 1 }) => void,
): { id: string; instanceId: string } {
  const { id: datasourceId, createdAt } = source;
  const names = referencesIn(properties);
  insert(db, { ...source, isDynamic: names.length > 0 ? 1 : 0 });
  const sets = names.length > 0 ? valueSets(db, source, names) : [{}];
  const ids = sets.map((values) => {
    const id = names.length > 0 ? newId() : datasourceId;
    insertInstance(db, { id, datasourceId, createdAt, dynamicKey: JSON.stringify(names.map((name) => values[name])) });
    setProperties(db, id, resolved(properties, values) as Properties);
    return id;
  });
  return { id: datasourceId, instanceId: ids[0]! };
}

function referencesIn(properties: Properties): string[] {
  const names = [...JSON.stringify(properties).matchAll(reference)].map(
    (match) => JSON.parse(`"${match[1]}"`) as string,
  );
  return [...new Set(names)].sort();
}

/** The distinct sets, the creator's first. A user who has no value for a name has the empty text. */
function valueSets(db: Database, source: NewSource, names: readonly string[]): Record<string, string>[] {
  const users = db.all<{ id: string }>(
    'select id from users where account_id = ? order by id = ? desc, created_at, id',
    source.accountId,
    source.createdBy,
  );
  const all = users.map(({ id }) => Object.fromEntries(names.map((name) => [name, userValue(db, id, name)])));
  const distinct = new Map(all.map((values) => [JSON.stringify(values), values]));
  return distinct.size > 0 ? [...distinct.values()] : [Object.fromEntries(names.map((name) => [name, '']))];
}

function userValue(db: Database, userId: string, name: string): string {
  const sql = 'select value from user_properties where user_id = ? and name = ?';
  return db.get<{ value: string }>(sql, userId, name)?.value ?? '';
}

function resolved(value: unknown, values: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return value.replaceAll(reference, (_all, name: string) => values[name] ?? '');
  if (Array.isArray(value)) return value.map((item) => resolved(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolved(inner, values)]));
}
