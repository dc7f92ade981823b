import type { Asked, Reply, Routes } from './vendor.ts';

/** A record as the CRM returns it. The search filters by ID and modification time. */
export interface CrmObject {
  readonly id: string;
  readonly createdAt: string;
  readonly properties: Readonly<Record<string, string | null>>;
}

interface Filter {
  readonly propertyName: string;
  readonly operator: 'GTE' | 'GT';
  readonly value: string;
}

/**
 * The search endpoint for records of one kind: filters them, orders them by ID and returns only the requested
 * properties.
 */
export function searched(all: () => Iterable<CrmObject>, perPage: number) {
  return ({ body }: Pick<Asked, 'body'>): Reply => {
    const filters = body.filterGroups[0].filters as Filter[];
    const found: CrmObject[] = [];
    for (const one of all()) {
      if (!filters.every((filter) => fits(one, filter))) continue;
      found.push(one);
      if (found.length > perPage) break;
    }
    const results = found.slice(0, perPage).map((one) => shown(one, body.properties));
    return { json: { results, ...(found.length > perPage ? { paging: { next: { after: String(perPage) } } } : {}) } };
  };
}

function fits({ id, properties }: CrmObject, { propertyName, operator, value }: Filter): boolean {
  if (propertyName === 'hs_object_id') return operator === 'GT' && Number(id) > Number(value);
  return operator === 'GTE' && Date.parse(properties[propertyName] ?? '') >= Number(value);
}

function shown(one: CrmObject, names: readonly string[]) {
  return { ...one, properties: Object.fromEntries(names.map((name) => [name, one.properties[name] ?? null])) };
}

/** The list of properties, by name and type. */
export function properties(types: Readonly<Record<string, string>>): Reply {
  return { json: { results: Object.entries(types).map(([name, type]) => ({ name, type, label: name })) } };
}

/** One owner, for lists and for check. */
export const owners: Routes = {
  'GET /crm/v3/owners': ({ query }) => ({
    json: query.has('after')
      ? { results: [{ id: '8', email: 'bob@example.com', userId: 80, archived: false }] }
      : {
          results: [
            {
              id: '7',
              email: 'ann@example.com',
              firstName: 'Ann',
              lastName: 'Lee',
              userId: 9586504,
              createdAt: '2025-01-05T10:00:00.100Z',
              updatedAt: '2025-01-06T10:00:00.100Z',
              archived: false,
            },
          ],
          paging: { next: { after: 'NA%3D%3D' } },
        },
  }),
};
