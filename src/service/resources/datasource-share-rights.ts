import { editable } from '../datasource-rules.ts';
import type { ApiCall, Resource } from '../endpoint.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import { shareEndpoints } from '../share-endpoints.ts';
import { asShared, type Datasource, datasourceById } from '../store/datasources.ts';
import { canSee } from '../store/shares.ts';

/**
 * Throws 401 if the data source exists but isn't visible to the caller. All other endpoints respond with 404 in this
 * case.
 */
function findShared({ context, account, caller, params }: ApiCall): Datasource {
  const source = datasourceById(context.db, params.id!);
  if (source === undefined) throw notFound(`Data source not found: ${params.id}`);
  if (source.accountId === account.id && canSee(context.db, asShared(source), caller)) return source;
  throw new ApiError('permission_denied', 'The data source is not shared with you');
}

export default {
  name: 'datasource-share-rights',
  summary: 'Who may see and change a data source',
  endpoints: shareEndpoints({
    path: '/datasources/{id}/share-rights',
    noun: 'DataSource',
    what: 'a data source',
    basis: 'document',
    permission: ['datasource.share'],
    sharing: { decided: 'the change is all or nothing' },
    seen: (call) => asShared(findShared(call)),
    editable: (call) => asShared(editable(call, findShared(call))),
  }),
} satisfies Resource;
