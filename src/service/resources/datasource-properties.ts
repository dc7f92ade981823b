import { Type } from 'typebox';
import { changeSource, sourceProperties } from '../datasource-instancing.ts';
import { findDatasource, findEditable } from '../datasource-rules.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { notFound } from '../http/api-error.ts';
import { propertyMap } from '../http/fields.ts';
import type { Datasource } from '../store/datasources.ts';

const path = '/datasources/{id}/properties';

async function change(
  { context }: Pick<ApiCall, 'context'>,
  source: Datasource,
  given: { set?: Record<string, unknown>; drop?: string },
): Promise<void> {
  const gone = context.db.durably(() => changeSource(context.db, source, { ...given, now: context.clock.now() }));
  for (const blob of gone) await context.blobs.remove(blob);
}

export default {
  name: 'datasource-properties',
  summary: 'How data sources connect; instances get these properties with user values filled in',
  endpoints: [
    defineEndpoint({
      id: 'getDataSourceProperties',
      method: 'GET',
      path,
      summary: 'The properties of a data source, with unresolved references to user properties',
      basis: 'decided',
      permission: ['dashboard.library'],
      answer: { status: 200, data: Type.Object({ properties: propertyMap }) },
      find: (call) => findDatasource(call),
      do: ({ context }, source) => ({ data: { properties: sourceProperties(context.db, source) } }),
    }),
    defineEndpoint({
      id: 'setDataSourceProperties',
      method: 'PUT',
      path,
      summary: 'Sets properties of a data source and its instances; other properties are unchanged',
      basis: 'decided',
      missing: 'a list of allowed names: any name is accepted',
      permission: ['datasource.edit'],
      body: { properties: propertyMap },
      find: (call) => findEditable(call),
      act: (call, source) => change(call, source, { set: call.body.properties }),
    }),
    defineEndpoint({
      id: 'deleteDataSourceProperty',
      method: 'DELETE',
      path,
      summary: 'Removes one property of a data source and of its instances',
      basis: 'decided',
      permission: ['datasource.edit'],
      query: { name: Type.String({ minLength: 1 }) },
      find: (call) => findEditable(call),
      act: (call, source) => {
        const { name } = call.query;
        if (!Object.hasOwn(sourceProperties(call.context.db, source), name)) {
          throw notFound(`The data source has no property "${name}"`);
        }
        return change(call, source, { drop: name });
      },
    }),
  ],
} satisfies Resource;
