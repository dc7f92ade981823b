import { Type } from 'typebox';
import { newId } from '../../lib/ids.ts';
import { findDatasource } from '../datasource-rules.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { companyName, idAndName, isoTime, nothing, someName, someText, timeText } from '../http/fields.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { findEditableKlip, findKlip } from '../klip-rules.ts';
import { checkSchema, datasourcesOf, defaultSchema, type Schema, schemaObject } from '../klip-schema.ts';
import { defineModel } from '../model.ts';
import { rights, rightsOf } from '../sharing.ts';
import { klipInstanceById } from '../store/klip-instances.ts';
import {
  clientInstancesOf,
  deleteKlip,
  insertKlip,
  type Klip,
  klipAsShared,
  setUsedDatasources,
  updateKlip,
  usedDatasources,
  visibleKlips,
} from '../store/klips.ts';

const listItem = { id: Type.String(), name: Type.String(), description: Type.String() };

const summary = defineModel('KlipSummary', listItem);

const detail = defineModel('Klip', {
  ...listItem,
  klip_id: Type.Optional(Type.String({ description: 'ID of the Klip, if the ID in the path is that of an instance' })),
  company: companyName,
  created_by: Type.Union([Type.String(), Type.Null()]),
  date_created: isoTime,
  last_updated: isoTime,
  share_rights: Type.Optional(rights.share_rights),
  user_share_rights: Type.Optional(rights.user_share_rights),
  datasources: Type.Optional(Type.Array(idAndName)),
  datasets: Type.Optional(Type.Array(idAndName)),
});

function describeListed({ id, name, description }: Klip): object {
  return { id, name, description };
}

function describe({ account }: Pick<ApiCall, 'account'>, klip: Klip): object {
  return {
    ...describeListed(klip),
    company: account.name,
    created_by: klip.createdBy,
    date_created: timeText(klip.createdAt),
    last_updated: timeText(klip.updatedAt),
  };
}

function describeFully(call: ApiCall, klip: Klip): object {
  const { context, caller } = call;
  const datasources = usedDatasources(context.db, klip.id, caller);
  return { ...describe(call, klip), ...rightsOf(context.db, klipAsShared(klip)), datasources, datasets: [] };
}

/**
 * Returns a Klip by its own ID or by the ID of one of its instances. In the second case, also returns both IDs for the
 * response.
 */
function findByEitherId(call: ApiCall): { klip: Klip; ids: object } {
  const { id } = call.params as { id: string };
  const instance = klipInstanceById(call.context.db, id);
  const klip = findKlip(call, instance?.klipId, id);
  return { klip, ids: instance === undefined ? {} : { id, klip_id: klip.id } };
}

type Created = ApiCall<unknown, { name: string; description?: string; schema?: object }>;

/** Stores a new Klip and the list of data sources that it uses. Returns the Klip's ID. */
function create(call: Created): string {
  const { context, caller, account, body } = call;
  const id = newId();
  const given = body.schema === undefined ? undefined : (call.json.schema as Schema);
  if (given !== undefined) checkSchema(call, given, 'schema.');
  const schema = given ?? defaultSchema(id);
  const klip = {
    id,
    accountId: account.id,
    name: body.name,
    description: body.description ?? '',
    createdBy: caller.user.id,
    createdAt: context.clock.now(),
  };
  context.db.durably(() => {
    insertKlip(context.db, { ...klip, schema: JSON.stringify(schema) });
    setUsedDatasources(context.db, id, datasourcesOf(schema));
  });
  return id;
}

export default {
  name: 'klips',
  summary: 'Visual widgets that show data on dashboards',
  endpoints: [
    defineEndpoint({
      id: 'listKlips',
      method: 'GET',
      path: '/klips',
      summary: 'The Klips that are visible to the caller',
      basis: 'document',
      permission: ['dashboard.library'],
      query: { ...pageQuery, datasource_id: Type.Optional(Type.String({ minLength: 1 })) },
      answer: { status: 200, data: Type.Object({ klips: Type.Array(summary) }) },
      find: (call) =>
        call.query.datasource_id === undefined ? undefined : findDatasource(call, call.query.datasource_id),
      do: ({ context, account, caller, query }, source) =>
        listResult(
          'klips',
          visibleKlips(context.db, { account, caller, datasourceId: source?.id }, query),
          describeListed,
        ),
    }),
    defineEndpoint({
      id: 'getKlip',
      method: 'GET',
      path: '/klips/{id}',
      summary: 'One Klip, by its ID or the ID of one of its instances',
      basis: 'document',
      decided: 'items of `datasources` are {id, name}; `klip_id` if the ID is that of an instance',
      missing: 'datasets: always an empty list',
      permission: ['dashboard.library'],
      query: { full: Type.Boolean({ default: false }) },
      answer: { status: 200, data: detail },
      find: (call) => findByEitherId(call),
      do: (call, { klip, ids }) => {
        const data = call.query.full ? describeFully(call, klip) : describe(call, klip);
        return { data: { ...data, ...ids } };
      },
    }),
    defineEndpoint({
      id: 'listClientKlipInstances',
      method: 'GET',
      path: '/klips/{id}/client-instances',
      summary: "Where copies of a Klip are placed on dashboards of the company's clients",
      basis: 'document',
      decided: 'the list contains instances of imported copies on client dashboards',
      missing: '`full`: the list always contains IDs',
      permission: ['client.access', 'dashboard.library'],
      everyPermission: true,
      client: false,
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ klips: Type.Array(Type.String()) }) },
      find: (call) => findKlip(call),
      do: ({ context, caller, query }, klip) =>
        listResult(
          'klips',
          clientInstancesOf(context.db, { klipId: klip.id, companyId: caller.company.id }, query),
          ({ id }) => id,
        ),
    }),
    defineEndpoint({
      id: 'createKlip',
      method: 'POST',
      path: '/klips',
      summary: 'Creates a Klip, with a simple schema if none is given',
      basis: 'document',
      decided: 'the schema that is used if none is given',
      missing: 'images: Klips are not rendered',
      permission: ['klip.build'],
      body: {
        name: someName,
        description: Type.Optional(someText),
        schema: Type.Optional(schemaObject),
      },
      answer: { status: 201, data: nothing },
      do: (call) => ({ meta: { location: `/klips/${create(call)}` } }),
    }),
    defineEndpoint({
      id: 'updateKlip',
      method: 'PUT',
      path: '/klips/{id}',
      summary: 'Changes name or description',
      basis: 'document',
      permission: ['klip.edit'],
      body: { name: Type.Optional(someName), description: Type.Optional(someText) },
      find: (call) => findEditableKlip(call),
      act: ({ context, body }, klip) =>
        context.db.durably(() => updateKlip(context.db, klip.id, { ...body, now: context.clock.now() })),
    }),
    defineEndpoint({
      id: 'deleteKlip',
      method: 'DELETE',
      path: '/klips/{id}',
      summary: 'Removes a Klip, its instances and its annotations',
      basis: 'document',
      permission: ['klip.delete'],
      find: (call) => findEditableKlip(call),
      act: ({ context }, klip) => context.db.durably(() => deleteKlip(context.db, klip.id)),
    }),
  ],
} satisfies Resource;
