import { newId } from '../lib/ids.ts';
import type { Database } from './store/database.ts';
import { type Datasource, dynamicSources, setSourceProperties } from './store/datasources.ts';
import {
  deleteInstance,
  deleteProperty,
  insertInstance,
  keyedInstancesOf,
  propertiesOf,
  setProperties,
} from './store/instances.ts';

type NewSource = Omit<Datasource, 'dateLastRefresh' | 'disabled' | 'isDynamic'>;
type Properties = Readonly<Record<string, unknown>>;

const reference = /\{props\.([^{}]+)\}/g;

/**
 * Stores a source with its instances. If any of the source's properties refers to user properties (`{props.NAME}`), the
 * source is dynamic: it has one instance for each distinct set of values that the account's users have. Any other
 * source has one instance, which has the source's ID.
 */
export function createInstances(
  db: Database,
  { source, properties }: { source: NewSource; properties: Properties },
  insert: (db: Database, source: NewSource & { isDynamic: 0 | 1 }) => void,
): { id: string; instanceId: string } {
  const names = referencesIn(properties);
  insert(db, { ...source, isDynamic: names.length > 0 ? 1 : 0 });
  const [instanceId] = fillInstances(db, source, { names, properties, createdAt: source.createdAt });
  return { id: source.id, instanceId: instanceId! };
}

type Owned = Pick<Datasource, 'id' | 'accountId' | 'createdBy'>;

interface Template {
  /** The source's properties, with references unresolved. */
  readonly properties: Properties;
  /** The user properties that the source refers to. */
  readonly names: readonly string[];
  readonly createdAt: number;
}

/** Creates all instances of a source that has none. Returns the instances' IDs, with the creator's instance first. */
function fillInstances(db: Database, source: Owned, { names, properties, createdAt }: Template): string[] {
  const sets = names.length > 0 ? valueSets(db, source, names) : [{}];
  return sets.map((values) => {
    const id = names.length > 0 ? newId() : source.id;
    createInstance(db, { id, datasourceId: source.id, createdAt, names, values, properties });
    return id;
  });
}

/**
 * A source's own properties, with references unresolved. In the instances of a dynamic source, users' values replace
 * the references.
 */
export function sourceProperties(db: Database, { id, isDynamic, properties }: Datasource): Properties {
  return isDynamic === 1 ? (JSON.parse(properties) as Properties) : propertiesOf(db, id);
}

interface Change {
  readonly set?: Properties;
  readonly drop?: string;
  readonly now: number;
}

/**
 * Changes the properties of a source and its instances. Each instance gets its own values. If the source then refers to
 * different user properties, or to none, all its instances are recreated without data. Call this in a transaction.
 * Returns the blobs that are no longer shown, which the caller must remove afterwards.
 */
export function changeSource(db: Database, source: Datasource, { set = {}, drop, now }: Change): string[] {
  const before = sourceProperties(db, source);
  const given = Object.entries({ ...before, ...withoutNulls(set) }).filter(([name]) => name !== drop);
  const properties = Object.fromEntries(given);
  const names = referencesIn(properties);
  setSourceProperties(db, source.id, { properties: JSON.stringify(properties), isDynamic: names.length > 0 ? 1 : 0 });
  if (JSON.stringify(names) !== JSON.stringify(source.isDynamic === 1 ? referencesIn(before) : [])) {
    return renewInstances(db, source, { names, properties, createdAt: now });
  }
  for (const { id, dynamicKey } of keyedInstancesOf(db, source.id)) {
    setProperties(db, id, resolved(set, valuesOf(names, dynamicKey)) as Properties);
    if (drop !== undefined) deleteProperty(db, id, drop);
  }
  return [];
}

/**
 * Removes a source's instances with their data: all instances, or only those that last got data before a given time
 * (instances without data count by their creation time). Instances that the source still needs are recreated without
 * data. Call this in a transaction. Returns the blobs that are no longer shown, which the caller must remove
 * afterwards.
 */
export function emptyInstances(db: Database, source: Datasource, { before = Infinity, now }: Emptying): string[] {
  const properties = sourceProperties(db, source);
  const names = source.isDynamic === 1 ? referencesIn(properties) : [];
  const stale = keyedInstancesOf(db, source.id).filter(({ lastChange }) => lastChange < before);
  for (const { id, dynamicKey } of stale) {
    deleteInstance(db, id);
    const fresh = { id: names.length > 0 ? newId() : id, datasourceId: source.id, createdAt: now };
    createInstance(db, { ...fresh, names, values: valuesOf(names, dynamicKey), properties });
  }
  return stale.flatMap(({ blob }) => blob ?? []);
}

interface Emptying {
  /** Milliseconds. */
  readonly before?: number | undefined;
  readonly now: number;
}

function renewInstances(db: Database, source: Owned, template: Template): string[] {
  const there = keyedInstancesOf(db, source.id);
  for (const { id } of there) deleteInstance(db, id);
  fillInstances(db, source, template);
  return there.flatMap(({ blob }) => blob ?? []);
}

interface NewInstance {
  readonly id: string;
  readonly datasourceId: string;
  readonly createdAt: number;
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  /** The source's properties, with references unresolved. */
  readonly properties: Properties;
}

function createInstance(db: Database, { names, values, properties, ...row }: NewInstance): void {
  insertInstance(db, { ...row, dynamicKey: keyOf(names, values) });
  setProperties(db, row.id, resolved(properties, values) as Properties);
}

function keyOf(names: readonly string[], values: Readonly<Record<string, string>>): string {
  return JSON.stringify(names.map((name) => values[name]));
}

function valuesOf(names: readonly string[], key: string): Record<string, string> {
  const values = JSON.parse(key) as string[];
  return Object.fromEntries(names.map((name, i) => [name, values[i]!]));
}

function withoutNulls(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null));
}

/**
 * Reconciles the instances of an account's dynamic sources with the account's users: creates an instance for each new
 * set of values, and deletes instances (with their data) whose set of values no user has anymore. Call this in the
 * transaction that changes users or their properties. Returns the blobs that are no longer shown, which the caller must
 * remove afterwards.
 */
export function followUsers(db: Database, accountId: string, now: number): string[] {
  return dynamicSources(db, accountId).flatMap((source) => {
    const properties = JSON.parse(source.properties) as Properties;
    const names = referencesIn(properties);
    const wanted = new Map(valueSets(db, source, names).map((values) => [keyOf(names, values), values]));
    const there = keyedInstancesOf(db, source.id);
    const stale = there.filter(({ dynamicKey }) => !wanted.has(dynamicKey));
    for (const { id } of stale) deleteInstance(db, id);
    for (const { dynamicKey } of there) wanted.delete(dynamicKey);
    for (const values of wanted.values()) {
      createInstance(db, { id: newId(), datasourceId: source.id, createdAt: now, names, values, properties });
    }
    return stale.flatMap(({ blob }) => blob ?? []);
  });
}

function referencesIn(properties: Properties): string[] {
  const names = textsIn(properties).flatMap((text) => [...text.matchAll(reference)].map((match) => match[1]!));
  return [...new Set(names)].sort();
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The users' distinct sets of values, with the creator's set first. A missing value counts as an empty string. */
function valueSets(
  db: Database,
  source: { accountId: string; createdBy: string | null },
  names: readonly string[],
): Record<string, string>[] {
  const rows = db.all<{ id: string; name: string | null; value: string | null }>(
    `select u.id, p.name, p.value from users u left join user_properties p on p.user_id = u.id
     where u.account_id = ? order by u.id = ? desc, u.created_at, u.id`,
    source.accountId,
    source.createdBy,
  );
  const all = [...Map.groupBy(rows, ({ id }) => id).values()].map((own) => {
    const values = new Map(own.map(({ name, value }) => [name, value]));
    return Object.fromEntries(names.map((name) => [name, values.get(name) ?? '']));
  });
  const distinct = new Map(all.map((values) => [keyOf(names, values), values]));
  return distinct.size > 0 ? [...distinct.values()] : [Object.fromEntries(names.map((name) => [name, '']))];
}

function resolved(value: unknown, values: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return value.replaceAll(reference, (_all, name: string) => values[name] ?? '');
  if (Array.isArray(value)) return value.map((item) => resolved(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolved(inner, values)]));
}
