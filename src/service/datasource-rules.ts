import { Type } from 'typebox';
import type { ApiCall } from './endpoint.ts';
import { forbidden, notFound } from './http/api-error.ts';
import { canonicalId } from './http/canonical-id.ts';
import { asShared, type Datasource, datasourceById } from './store/datasources.ts';
import { type Instance, instanceById } from './store/instances.ts';
import { canEdit, canSee } from './store/shares.ts';

/** The connectors that a data source can use, as listed in responses. */
export const connectors = [
  'db',
  'ftp',
  'simple_rest',
  'box',
  'comscore',
  'dropbox',
  'facebook',
  'google_adwords',
  'google_analytics',
  'google_drive',
  'google_spreadsheets',
  'hubspot',
  'iformbuilder',
  'marketo',
  'omniture',
  'radian6',
  'salesforce',
  'searchMetrics',
  'shopify',
  'survey_monkey',
  'versature',
  'xero',
  'xmla',
] as const;

const day = 86_400;
const intervals = [0, 60, 300, 900, 1800, 3600, 7200, 10_800, 14_400, 43_200];

/** The allowed refresh intervals, in words. */
export const intervalRule = `one of ${intervals.join(', ')}, or a multiple of ${day}`;

/** Seconds between two refreshes; 0 = no scheduled refreshes. */
export const refreshInterval = Type.Refine(
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, 'x-rule': `must be ${intervalRule}` }),
  intervalAllowed,
);

/** Whether this refresh interval is allowed. */
export function intervalAllowed(seconds: number): boolean {
  return intervals.includes(seconds) || (seconds >= day && seconds % day === 0);
}

/**
 * A data source that the caller can see; by default, the one in the path. Throws 404 if there is no such data source.
 */
export function findDatasource({ context, account, caller, params }: ApiCall, id = params.id!): Datasource {
  const source = datasourceById(context.db, canonicalId(id));
  if (source === undefined || source.accountId !== account.id || !canSee(context.db, asShared(source), caller)) {
    throw notFound(`Data source not found: ${id}`);
  }
  return source;
}

/** Like {@link findDatasource}, but also throws 403 if the caller may not change the data source. */
export function findEditable(call: ApiCall): Datasource {
  return editable(call, findDatasource(call));
}

/** Returns the source if the caller may change it; otherwise throws 403. */
export function editable({ context, caller }: ApiCall, source: Datasource): Datasource {
  if (!canEdit(context.db, asShared(source), caller))
    throw forbidden('You can view the data source, but not change it');
  return source;
}

/** An instance and its source. */
export interface FoundInstance {
  readonly instance: Instance;
  readonly source: Datasource;
}

/** An instance whose source the caller can see. */
export function findInstance(call: ApiCall): FoundInstance {
  const { id } = call.params as { id: string };
  const instance = instanceById(call.context.db, id);
  const source = instance && datasourceById(call.context.db, instance.datasourceId);
  if (
    instance === undefined ||
    source?.accountId !== call.account.id ||
    !canSee(call.context.db, asShared(source), call.caller)
  ) {
    throw notFound(`Data source instance not found: ${id}`);
  }
  return { instance, source };
}

/** Like {@link findInstance}, but also throws 403 if the caller may not change the instance. */
export function findEditableInstance(call: ApiCall): FoundInstance {
  const found = findInstance(call);
  editable(call, found.source);
  return found;
}
