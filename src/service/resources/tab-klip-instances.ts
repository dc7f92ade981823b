import { Type } from 'typebox';
import { newId } from '../../lib/ids.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { badRequest, notFound } from '../http/api-error.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { findKlip } from '../klip-rules.ts';
import { defineModel } from '../model.ts';
import {
  deleteKlipInstance,
  insertKlipInstance,
  type KlipInstance,
  klipInstanceById,
  klipInstancesOf,
  pageOfKlipInstances,
  placeKlipInstance,
} from '../store/klip-instances.ts';
import { type Tab, updateTab } from '../store/tabs.ts';
import { lastPosition, layoutOf, makeRoom, type Placed, regionCount } from '../tab-layout.ts';
import { findEditableTab, findTab } from '../tab-rules.ts';

const path = '/tabs/{id}/klip-instances';
const permission = ['dashboard.tab'] as const;
const atOnce = 100;

const instances = Type.Object({
  klip_instances: Type.Array(
    defineModel('KlipInstance', { id: Type.String(), klip_id: Type.String(), name: Type.String() }),
  ),
});

const placeBody = {
  klips: Type.Array(
    defineModel('KlipPlacement', {
      klip_id: Type.String(),
      region: Type.Optional(Type.Integer({ minimum: 1, 'x-rule': 'must be a whole number, 1 or more' })),
      position: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: lastPosition,
          'x-rule': `must be a whole number from 0 to ${lastPosition}`,
        }),
      ),
    }),
    { maxItems: atOnce, 'x-rule': `must be a list of at most ${atOnce} Klips with their positions` },
  ),
};

interface PlaceBody {
  klips: { klip_id: string; region?: number; position?: number }[];
}

function describe({ id, klipId, name }: Pick<KlipInstance, 'id' | 'klipId' | 'name'>): object {
  return { id, klip_id: klipId, name };
}

/** Places all Klips on the dashboard. Places none if a Klip or a region doesn't exist. */
function place(call: ApiCall<unknown, PlaceBody>, tab: Tab): KlipInstance[] {
  const { context, body } = call;
  const layout = layoutOf(tab);
  const regions = regionCount(layout);
  const now = context.clock.now();
  return context.db.durably(() => {
    const wanted = body.klips.map(({ klip_id, region = 1, position = 0 }, at) => {
      if (region > regions) throw badRequest(`Field "klips.${at}.region" must be from 1 to ${regions} in this layout`);
      const { id: klipId, name } = findKlip(call, klip_id);
      return { id: newId(), tabId: tab.id, klipId, name, region, position, ...unsized };
    });
    const standing = new Map<string, Placed>(klipInstancesOf(context.db, tab.id).map((one) => [one.id, one]));
    for (const one of wanted) {
      for (const moved of makeRoom(layout, [...standing.values()], one)) standing.set(moved.id, moved);
      standing.set(one.id, one);
    }
    for (const one of wanted) insertKlipInstance(context.db, { ...one, createdAt: now });
    for (const one of standing.values()) placeKlipInstance(context.db, one);
    updateTab(context.db, tab.id, { now });
    return wanted;
  });
}

const unsized = { colSpan: 1, minHeight: 0, height: null } as const;

function remove({ context, params }: ApiCall, tab: Tab): void {
  const id = params.instance!;
  context.db.durably(() => {
    if (klipInstanceById(context.db, id)?.tabId !== tab.id) throw notFound(`Klip instance not found: ${id}`);
    deleteKlipInstance(context.db, id);
    updateTab(context.db, tab.id, { now: context.clock.now() });
  });
}

export default {
  name: 'tab-klip-instances',
  summary: 'The Klips that are placed on a dashboard',
  endpoints: [
    defineEndpoint({
      id: 'listKlipInstances',
      method: 'GET',
      path,
      summary: 'The Klip instances of a dashboard, in the order in which they were placed',
      basis: 'document',
      decided: 'the list is in the order in which Klips were placed',
      permission,
      query: pageQuery,
      answer: { status: 200, data: instances },
      find: (call) => findTab(call),
      do: ({ context, query }, tab) =>
        listResult('klip_instances', pageOfKlipInstances(context.db, tab.id, query), describe),
    }),
    defineEndpoint({
      id: 'placeKlips',
      method: 'PUT',
      path,
      summary: 'Places Klips on a dashboard, each as a new instance',
      basis: 'document',
      decided: 'the defaults: `region` 1 and `position` 0',
      permission,
      body: placeBody,
      answer: { status: 200, data: instances },
      find: (call) => findEditableTab(call),
      do: (call, tab) => ({ data: { klip_instances: place(call, tab).map(describe) } }),
    }),
    defineEndpoint({
      id: 'removeKlipInstance',
      method: 'DELETE',
      path: `${path}/{instance}`,
      summary: 'Removes one Klip instance from a dashboard; the Klip stays',
      basis: 'document',
      permission,
      find: (call) => findEditableTab(call),
      act: (call, tab) => remove(call, tab),
    }),
  ],
} satisfies Resource;
