import { Type } from 'typebox';
import { clientNamed } from '../client-named.ts';
import { copyDatasource } from '../datasource-copy.ts';
import { emptyInstances } from '../datasource-instancing.ts';
import { findEditable } from '../datasource-rules.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { notFound } from '../http/api-error.ts';
import { requested, unixTime } from '../http/fields.ts';
import { requireImportable } from '../import-rules.ts';
import { bulkRefresh, bulkRefreshAnswer } from '../refresh/bulk.ts';
import { asShared, type Datasource, datasourceById, setDisabled } from '../store/datasources.ts';

const switching = (word: 'enable' | 'disable') =>
  defineEndpoint({
    id: `${word}DataSource`,
    method: 'POST',
    path: `/datasources/{id}/@/${word}`,
    summary: word === 'enable' ? 'Enables a data source' : 'Disables a data source, which then accepts no data',
    basis: 'decided',
    permission: ['datasource.edit'],
    body: {},
    find: (call) => findEditable(call),
    act: ({ context }, source) => context.db.durably(() => setDisabled(context.db, source.id, word === 'disable')),
  });

function findImportable(call: ApiCall): Datasource {
  const { id } = call.params as { id: string };
  const source = datasourceById(call.context.db, id);
  if (source?.accountId !== call.account.id) throw notFound(`Data source not found: ${id}`);
  requireImportable(call, asShared(source), 'The data source');
  return source;
}

const lastAccess = { last_access: Type.Optional(unixTime) };

export default {
  name: 'datasource-operations',
  summary: 'Operations on data sources',
  endpoints: [
    defineEndpoint({
      id: 'refreshDataSources',
      method: 'POST',
      path: '/datasources/@/refresh',
      summary: 'Queues a refresh of all instances of several data sources',
      basis: 'document',
      decided: '`queue_status` is 200, or 207 if some instances could not be queued',
      missing: 'the same features as for a single instance',
      permission: ['datasource.edit'],
      body: { datasources: Type.Array(Type.String(), { minItems: 1 }) },
      answer: { status: 200, data: bulkRefreshAnswer },
      do: (call) => ({ data: bulkRefresh(call, call.body.datasources) }),
    }),
    switching('enable'),
    switching('disable'),
    defineEndpoint({
      id: 'importDataSource',
      method: 'POST',
      path: '/datasources/{id}/@/import',
      summary: 'Copies a data source, without its data, into a client account',
      basis: 'decided',
      permission: ['datasource.import'],
      client: false,
      body: { client_id: Type.String({ minLength: 1 }) },
      answer: { status: 201, data: requested('import') },
      find: (call) => findImportable(call),
      do: (call, source) => {
        const { id } = clientNamed(call.context, call.caller, call.body.client_id);
        const copy = call.context.db.durably(() => copyDatasource(call, source, id));
        return { meta: { location: `/datasources/${copy}` }, data: { op_requested: 'import' } };
      },
    }),
    defineEndpoint({
      id: 'deleteInstances',
      method: 'POST',
      path: '/datasources/{id}/@/delete_instances',
      summary: 'Removes instances and their data: all of them, or those without new data since `last_access`',
      basis: 'decided',
      decided: 'instances that the source still needs are recreated immediately, without data',
      missing: 'recording reads: `last_access` is the time of the last upload',
      permission: ['datasource.delete'],
      query: lastAccess,
      body: lastAccess,
      find: (call) => findEditable(call),
      act: async ({ context, query, body }, source) => {
        const seconds = query.last_access ?? body.last_access;
        const before = seconds === undefined ? undefined : seconds * 1000;
        const gone = context.db.durably(() => emptyInstances(context.db, source, { before, now: context.clock.now() }));
        for (const blob of gone) await context.blobs.remove(blob);
      },
    }),
  ],
} satisfies Resource;
