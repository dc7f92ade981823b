import type { OpenApiSchema } from '../../src/service/openapi/schemas.ts';
import { validValue } from './values.ts';

type Fields = Record<string, unknown>;

/** For each field name, where to create the assets whose IDs the field contains. */
export const collections: Readonly<Record<string, string>> = {
  tab_id: '/tabs',
  tab_ids: '/tabs',
  dashboard_id: '/tabs',
  klip_id: '/klips',
  group_id: '/groups',
  user_id: '/users',
  roles: '/roles',
  datasource_id: '/datasources',
  datasources: '/datasources',
  client_id: '/clients',
  company_id: '/clients',
};

/** A field at any depth that contains an ID, and how to replace that ID. */
export interface IdField {
  readonly name: string;
  put(fields: Fields, id: string): Fields;
}

/** All fields in the schema that contain an ID, including optional ones. */
export function idFields(schema: OpenApiSchema): IdField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]): IdField[] => {
    const items = inner.type === 'array' ? (inner.items ?? {}) : undefined;
    const deeper = idFields(items ?? inner).map((field) => ({
      name: field.name,
      put: (fields: Fields, id: string) => {
        const before = items === undefined ? fields[name] : (fields[name] as unknown[] | undefined)?.[0];
        const changed = field.put((before ?? validValue(items ?? inner, () => undefined)) as Fields, id);
        return { ...fields, [name]: items === undefined ? changed : [changed] };
      },
    }));
    const own = { name, put: (fields: Fields, id: string) => ({ ...fields, [name]: items === undefined ? id : [id] }) };
    const holdsId = name in collections && (items ?? inner).type === 'string';
    return holdsId ? [own, ...deeper] : deeper;
  });
}
