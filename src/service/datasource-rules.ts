import { Type } from 'typebox';
import type { ApiCall } from './endpoint.ts';
import { forbidden, notFound } from './http/api-error.ts';
import { asShared, type Datasource, datasourceById } from './store/datasources.ts';
import { type Instance, instanceById } from './store/instances.ts';
import { canEdit, canSee } from './store/shares.ts';

/** The connectors that a data source can name, as they are answered. */
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

/** Which refresh intervals there are, in words. */
export const intervalRule = `one of ${intervals.join(', ')}, or a multiple of ${day}`;

/** Seconds between two refreshes; 0 = not by schedule. */
export const refreshInterval = Type.Union(
  [Type.Enum(intervals), Type.Integer({ minimum: day, multipleOf: day, maximum: Number.MAX_SAFE_INTEGER })],
  { 'x-rule': `must be ${intervalRule}` },
);

/** Whether there is such a refresh interval. */
export function intervalAllowed(seconds: number): boolean {
  return intervals.includes(seconds) || (seconds >= day && seconds % day === 0);
}

/** A source that the caller may see, by the id in the path; anything else does not exist for them. */
export function findDatasource({ context, account, caller, params }: ApiCall, id = params.id!): Datasource {
  const source = datasourceById(context.db, id);
  if (source === undefined || source.accountId !== account.id || !canSee(context.db, asShared(source), caller)) {
    throw notFound(`Data source not found: ${id}`);
  }
  return source;
}

/** The same, for callers who are about to change it. */
export function findEditable(call: ApiCall): Datasource {
  return editable(call, findDatasource(call));
}

/** The source, where the caller may change it; else 403. */
export function editable({ context, caller }: ApiCall, source: Datasource): Datasource {
  if (!canEdit(context.db, asShared(source), caller))
    throw forbidden('You can view the data source, but not change it');
  return source;
}

/** An instance, and the source that it belongs to. */
export interface FoundInstance {
  readonly instance: Instance;
  readonly source: Datasource;
}

/** An instance whose source the caller may see. */
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

/** The same, for callers who are about to change it. */
export function findEditableInstance(call: ApiCall): FoundInstance {
  const found = findInstance(call);
  editable(call, found.source);
  return found;
}
