import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { formatById } from '../../formats/index.ts';
import {
  type FoundInstance,
  findDatasource,
  findEditable,
  findEditableInstance,
  findInstance,
} from '../datasource-rules.ts';
import { type ApiCall, defineEndpoint, type EndpointResult, type Resource } from '../endpoint.ts';
import { badRequest, forbidden, notFound } from '../http/api-error.ts';
import { successBody } from '../http/envelope.ts';
import { requireMet } from '../http/etag.ts';
import { isoTimeOrNull, lastRefresh, propertyMap, timeText } from '../http/fields.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import type { Datasource } from '../store/datasources.ts';
import {
  deleteProperty,
  etagOf,
  type Instance,
  instanceById,
  instancesOf,
  propertiesOf,
  setProperties,
  visibleInstances,
} from '../store/instances.ts';
import { publish } from '../uploads/publish.ts';
import { receive } from '../uploads/receive.ts';

const instanceSchema = defineModel('DataSourceInstance', {
  id: Type.String(),
  datasource_id: Type.String(),
  datasource_name: Type.String(),
  refresh_fail_count: Type.Integer(),
  last_error: Type.Union([Type.String(), Type.Null()]),
  data_size: Type.Integer(),
  date_last_refresh: lastRefresh,
  date_next_refresh: isoTimeOrNull,
});

function describe(instance: Instance): object {
  return {
    id: instance.id,
    datasource_id: instance.datasourceId,
    datasource_name: instance.datasourceName,
    refresh_fail_count: instance.refreshFailCount,
    last_error: instance.lastError,
    data_size: instance.dataSize,
    date_last_refresh: timeText(instance.dateLastRefresh),
    date_next_refresh: timeText(instance.dateNextRefresh),
  };
}

/** Validates the request body and stores it as the instance's data, all or nothing. */
async function store({ context, incoming }: ApiCall, { instance, source }: FoundInstance): Promise<void> {
  if (source.disabled === 1) throw forbidden('The data source is disabled');
  const { conditions } = incoming;
  // Rejects most uploads before they're sent; the condition is checked again in the transaction.
  requireMet(conditions, etagOf(instance));
  const received = await receive(context.blobs, {
    chunks: incoming.chunks(),
    announcedBytes: incoming.announcedBytes,
    format: source.format,
    limitBytes: context.uploadLimitBytes,
  });
  const { db, blobs, clock } = context;
  await publish({ db, blobs, now: clock.now(), conditions }, instance.id, received);
}

/** Returns the only instance of a data source that isn't dynamic. Throws 400 if the data source is dynamic. */
function onlyInstance({ context }: ApiCall, source: Datasource): FoundInstance {
  const [instance, ...others] = instancesOf(context.db, source.id);
  if (instance === undefined || others.length > 0 || source.isDynamic === 1) {
    throw badRequest('The data source is dynamic: use one of its instances, /datasource-instances/{id}/data');
  }
  return { instance, source };
}

/**
 * Returns the instance's data: JSON in the envelope, any other format as it was uploaded. If `raw` is set, returns the
 * uploaded bytes in any format, with a content type that isn't the envelope's. Tries again if an upload has deleted the file between the lookup and
 * the opening of the file.
 */
async function show(
  call: ApiCall<{ raw: boolean }>,
  { instance, source }: FoundInstance,
  tries = 3,
): Promise<EndpointResult> {
  const { context, query } = call;
  const etag = etagOf(instance);
  if (instance.blob === null || etag === undefined) throw notFound(`The instance has no data yet: ${instance.id}`);
  try {
    const stream = await context.blobs.open(instance.blob);
    if (source.format === 'json' && !query.raw) return enveloped(stream, { sizeBytes: instance.dataSize, etag });
    const type = source.format === 'json' ? 'application/octet-stream' : formatById(source.format).mediaType;
    return { stream, headers: { 'content-type': type, 'content-length': String(instance.dataSize), etag } };
  } catch (thrown) {
    const now = instanceById(context.db, instance.id);
    if (tries === 0 || now === undefined || now.blob === instance.blob) throw thrown;
    return show(call, { instance: now, source }, tries - 1);
  }
}

const rawQuery = {
  raw: Type.Boolean({ default: false, description: 'return the uploaded bytes in every format' }),
};

/** Puts JSON into the envelope while it streams. */
function enveloped(stream: Readable, { sizeBytes, etag }: { sizeBytes: number; etag: string }): EndpointResult {
  const [before, after] = successBody(200, { data: {} }).split('{}') as [string, string];
  const length = String(before.length + sizeBytes + after.length);
  async function* parts(): AsyncGenerator<Uint8Array | string, void> {
    yield before;
    yield* stream;
    yield after;
  }
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': length, etag };
  const whole = Readable.from(parts(), { objectMode: false });
  // If the client disconnects before the generator reads `stream`, the generator's end doesn't destroy it.
  whole.once('close', () => stream.destroy());
  return { stream: whole, headers };
}

const permission = ['dashboard.library'] as const;

export default {
  name: 'datasource-instances',
  summary: 'Copies of data sources, each with its own properties and data',
  endpoints: [
    defineEndpoint({
      id: 'listInstances',
      method: 'GET',
      path: '/datasource-instances',
      summary: 'The instances of the data sources that are visible to the caller',
      basis: 'decided',
      permission,
      query: { ...pageQuery, datasource_id: Type.Optional(Type.String({ minLength: 1 })) },
      answer: { status: 200, data: Type.Object({ datasources: Type.Array(instanceSchema) }) },
      find: (call) =>
        call.query.datasource_id === undefined ? undefined : findDatasource(call, call.query.datasource_id),
      do: ({ context, account, caller, query }, source) =>
        listResult(
          'datasources',
          visibleInstances(context.db, { account, caller, datasourceId: source?.id }, query),
          describe,
        ),
    }),
    defineEndpoint({
      id: 'getInstance',
      method: 'GET',
      path: '/datasource-instances/{id}',
      summary: 'One instance',
      basis: 'decided',
      permission,
      answer: { status: 200, data: instanceSchema },
      find: (call) => findInstance(call),
      do: (_call, { instance }) => ({ data: describe(instance) }),
    }),
    defineEndpoint({
      id: 'downloadInstanceData',
      method: 'GET',
      path: '/datasource-instances/{id}/data',
      summary: "An instance's data: JSON in the envelope, other formats as they were uploaded",
      basis: 'decided',
      decided:
        'JSON is the `data` of the envelope; with `raw`, every format is returned as it was uploaded; the response is ' +
        '304 if `If-None-Match` has the ETag of the data',
      permission,
      query: rawQuery,
      answer: { status: 200, data: 'bytes' },
      find: (call) => findInstance(call),
      do: (call, found) => show(call, found),
    }),
    defineEndpoint({
      id: 'downloadDataSourceData',
      method: 'GET',
      path: '/datasources/{id}/data',
      summary: "A data source's data, if the source is not dynamic",
      basis: 'decided',
      permission,
      query: rawQuery,
      answer: { status: 200, data: 'bytes' },
      find: (call) => onlyInstance(call, findDatasource(call)),
      do: (call, found) => show(call, found),
    }),
    defineEndpoint({
      id: 'uploadInstanceData',
      method: 'PUT',
      path: '/datasource-instances/{id}/data',
      summary: 'Replaces the data of an instance',
      basis: 'document',
      decided:
        "the required permission; the source's format applies, not the content type; the response is empty; " +
        '`If-Match` and `If-None-Match` are respected (412)',
      missing: 'decoding: compressed bodies are rejected with 400, multipart bodies are stored as received',
      permission,
      body: 'data',
      find: (call) => findEditableInstance(call),
      act: (call, found) => store(call, found),
    }),
    defineEndpoint({
      id: 'uploadDataSourceData',
      method: 'PUT',
      path: '/datasources/{id}/data',
      summary: 'Replaces the data of a data source that is not dynamic',
      basis: 'decided',
      missing: 'decoding: compressed bodies are rejected with 400, multipart bodies are stored as received',
      permission,
      body: 'data',
      find: (call) => onlyInstance(call, findEditable(call)),
      act: (call, found) => store(call, found),
    }),
    defineEndpoint({
      id: 'getInstanceProperties',
      method: 'GET',
      path: '/datasource-instances/{id}/properties',
      summary: 'How an instance connects',
      basis: 'document',
      permission,
      answer: { status: 200, data: Type.Object({ properties: propertyMap }) },
      find: (call) => findInstance(call),
      do: ({ context }, { instance }) => ({ data: { properties: propertiesOf(context.db, instance.id) } }),
    }),
    defineEndpoint({
      id: 'setInstanceProperties',
      method: 'PUT',
      path: '/datasource-instances/{id}/properties',
      summary: 'Sets properties; other properties are unchanged',
      basis: 'document',
      decided: 'values can have any type; null is ignored',
      missing: 'a list of allowed names: any name is accepted',
      permission,
      body: { properties: propertyMap },
      find: (call) => findEditableInstance(call),
      act: ({ context, body }, { instance }) =>
        context.db.durably(() => setProperties(context.db, instance.id, body.properties)),
    }),
    defineEndpoint({
      id: 'deleteInstanceProperty',
      method: 'DELETE',
      path: '/datasource-instances/{id}/properties',
      summary: 'Removes one property',
      basis: 'document',
      decided: 'returns 404 for an unknown name',
      permission,
      query: { name: Type.String({ minLength: 1 }) },
      find: (call) => findEditableInstance(call),
      act: ({ context, query }, { instance }) => {
        const found = context.db.durably(() => deleteProperty(context.db, instance.id, query.name));
        if (!found) throw notFound(`The instance has no property "${query.name}"`);
      },
    }),
    defineEndpoint({
      id: 'refreshInstance',
      method: 'POST',
      path: '/datasource-instances/{id}/@/refresh',
      summary: 'Queues a refresh of an instance',
      basis: 'document',
      decided: 'returns 403 while the data source is disabled; has no effect on push-only sources',
      missing: 'tokens stored by the service (`token_id`): the data source provides its own',
      permission,
      body: {},
      find: (call) => findInstance(call),
      act: ({ context }, { instance, source }) => {
        if (source.disabled === 1) throw forbidden('The data source is disabled');
        if (source.noRefresh === 0) context.refreshes.request([instance.id]);
      },
    }),
  ],
} satisfies Resource;
