import { Type } from 'typebox';
import { newId } from '../../lib/ids.ts';
import { createInstances, sourceProperties } from '../datasource-instancing.ts';
import { connectors, findDatasource, findEditable, refreshInterval } from '../datasource-rules.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import {
  companyName,
  isoTime,
  lastRefresh,
  nothing,
  propertyMap,
  someName,
  someText,
  timeText,
} from '../http/fields.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { rights, rightsOf } from '../sharing.ts';
import {
  asShared,
  type Datasource,
  deleteDatasource,
  type FormatId,
  formatIds,
  insertDatasource,
  type ListedDatasource,
  updateDatasource,
  visibleDatasources,
} from '../store/datasources.ts';
import { instancesOf } from '../store/instances.ts';

const listItem = {
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  refresh_interval: Type.Integer(),
  date_last_refresh: lastRefresh,
  is_dynamic: Type.Boolean(),
};

const summary = defineModel('DataSourceSummary', listItem);

const detail = defineModel('DataSource', {
  ...listItem,
  company: companyName,
  connector: Type.String(),
  format: Type.String(),
  created_by: Type.Union([Type.String(), Type.Null()]),
  disabled: Type.Boolean(),
  date_created: isoTime,
  properties: Type.Optional(propertyMap),
  share_rights: Type.Optional(rights.share_rights),
  user_share_rights: Type.Optional(rights.user_share_rights),
});

const createBody = {
  name: someName,
  description: Type.Optional(someText),
  format: Type.Enum(formatIds, { default: 'json' }),
  connector: Type.Enum(connectors, { default: 'simple_rest', 'x-any-case': true }),
  refresh_interval: Type.Optional(refreshInterval),
  properties: Type.Optional(propertyMap),
  no_refresh: Type.Optional(Type.Boolean()),
};

const changeBody = {
  name: Type.Optional(someName),
  description: Type.Optional(someText),
  refresh_interval: Type.Optional(refreshInterval),
};

function describeListed(source: ListedDatasource): object {
  return {
    id: source.id,
    name: source.name,
    description: source.description,
    refresh_interval: source.refreshInterval,
    date_last_refresh: timeText(source.dateLastRefresh),
    is_dynamic: source.isDynamic === 1,
  };
}

/** Copies the fields one by one, because spreading so many fields would take a quarter of the call's time. */
function describe({ account }: Pick<ApiCall, 'account'>, source: Datasource): object {
  return {
    id: source.id,
    name: source.name,
    description: source.description,
    refresh_interval: source.refreshInterval,
    date_last_refresh: timeText(source.dateLastRefresh),
    is_dynamic: source.isDynamic === 1,
    company: account.name,
    connector: source.connector,
    format: source.format,
    created_by: source.createdBy,
    disabled: source.disabled === 1,
    date_created: timeText(source.createdAt),
  };
}

function describeFully(call: Pick<ApiCall, 'account' | 'context'>, source: Datasource): object {
  const { db } = call.context;
  return {
    ...describe(call, source),
    properties: sourceProperties(db, source),
    ...rightsOf(db, asShared(source)),
  };
}

interface Created {
  name: string;
  description?: string;
  format: FormatId;
  connector: string;
  refresh_interval?: number;
  properties?: Record<string, unknown>;
  no_refresh?: boolean;
}

/** Creates the data source and its instances. Returns the IDs of the data source and its first instance. */
function create({ context, caller, account, body }: ApiCall<unknown, Created>): { id: string; instanceId: string } {
  const { no_refresh: inProperties, ...properties } = body.properties ?? {};
  const source = {
    id: newId(),
    accountId: account.id,
    name: body.name,
    description: body.description ?? '',
    connector: body.connector,
    format: body.format,
    refreshInterval: body.refresh_interval ?? 0,
    noRefresh: (body.no_refresh ?? (inProperties === true || inProperties === 'true')) ? 1 : 0,
    properties: JSON.stringify(properties),
    createdBy: caller.user.id,
    createdAt: context.clock.now(),
  } as const;
  return context.db.durably(() => createInstances(context.db, { source, properties }, insertDatasource));
}

async function remove({ context }: ApiCall, source: Datasource): Promise<void> {
  const blobs = instancesOf(context.db, source.id).flatMap(({ blob }) => blob ?? []);
  context.db.durably(() => deleteDatasource(context.db, source.id));
  for (const blob of blobs) await context.blobs.remove(blob);
}

export default {
  name: 'datasources',
  summary: 'The sources of dashboard data',
  endpoints: [
    defineEndpoint({
      id: 'listDataSources',
      method: 'GET',
      path: '/datasources',
      summary: 'The data sources that are visible to the caller',
      basis: 'document',
      permission: ['dashboard.library'],
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ datasources: Type.Array(summary) }) },
      do: ({ context, account, caller, query }) =>
        listResult('datasources', visibleDatasources(context.db, account, caller, query), describeListed),
    }),
    defineEndpoint({
      id: 'getDataSource',
      method: 'GET',
      path: '/datasources/{id}',
      summary: 'One data source; with `full`, also its properties and share rights',
      basis: 'document',
      decided: 'the `full` parameter',
      permission: ['dashboard.library'],
      query: { full: Type.Boolean({ default: false }) },
      answer: { status: 200, data: detail },
      find: (call) => findDatasource(call),
      do: (call, source) => ({ data: call.query.full ? describeFully(call, source) : describe(call, source) }),
    }),
    defineEndpoint({
      id: 'createDataSource',
      method: 'POST',
      path: '/datasources',
      summary: 'Creates a data source and its instance',
      basis: 'document',
      decided:
        'default values; allowed refresh intervals; `no_refresh` as a field or property; dynamic sources with `{props.NAME}`',
      missing: "checking a connector's properties before the first refresh; `is_dynamic` as an input",
      permission: ['datasource.create'],
      body: createBody,
      answer: { status: 201, data: nothing, meta: { instance_location: Type.String() } },
      do: (call) => {
        const { id, instanceId } = create(call);
        return { meta: { location: `/datasources/${id}`, instance_location: `/datasource-instances/${instanceId}` } };
      },
    }),
    defineEndpoint({
      id: 'updateDataSource',
      method: 'PUT',
      path: '/datasources/{id}',
      summary: 'Changes name, description or refresh interval',
      basis: 'document',
      decided: 'the allowed refresh intervals',
      permission: ['datasource.edit'],
      body: changeBody,
      find: (call) => findEditable(call),
      act: ({ context, body }, source) => context.db.durably(() => updateDatasource(context.db, source.id, body)),
    }),
    defineEndpoint({
      id: 'deleteDataSource',
      method: 'DELETE',
      path: '/datasources/{id}',
      summary: 'Removes a data source, its instances and their data',
      basis: 'document',
      permission: ['datasource.delete'],
      find: (call) => findEditable(call),
      act: (call, source) => remove(call, source),
    }),
  ],
} satisfies Resource;
