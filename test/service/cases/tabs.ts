import { badChanges, badNews, badPages, type Cases } from '../case.ts';
import { createKlip, createTab, placeKlips } from '../dashboards.ts';
import type { Bench } from '../service.ts';

const tab = async (given: Bench): Promise<Record<string, string>> => ({ id: await createTab(given) });

/** A dashboard with one Klip. */
const withKlip = async (given: Bench): Promise<Record<string, string>> => {
  const id = await createTab(given);
  const [instance] = await placeKlips(given, id, [{ klip_id: await createKlip(given) }]);
  return { id, instance: instance!.id };
};

const sharedTab = async (given: Bench): Promise<Record<string, string>> => {
  const id = await createTab(given);
  await given.call('PUT', `/tabs/${id}/share-rights`, { body: { groups: [{ group_id: 'acme-team' }] } });
  return { id, holder: 'acme-team' };
};

const cell = { id: 'gridklip-x', index: [0, 0] };
const grid = (desktop: object): object => ({ type: 'grid', state: { desktop } });

const cases: Cases = {
  'GET /tabs': { bad: badPages },
  'GET /tabs/{id}': { prepare: withKlip, query: 'full=true', bad: [{ query: 'full=1', field: 'full' }] },
  'POST /tabs': {
    body: { name: 'Sales', description: null, extra: 1 },
    bad: badNews,
  },
  'PUT /tabs/{id}': {
    prepare: tab,
    body: { name: 'Sales' },
    bad: badChanges,
  },
  'DELETE /tabs/{id}': { prepare: withKlip },
  'GET /tabs/{id}/klip-instances': { prepare: withKlip, bad: badPages },
  'PUT /tabs/{id}/klip-instances': {
    prepare: tab,
    body: { klips: [] },
    bad: [
      { body: {}, field: 'klips' },
      { body: { klips: null }, field: 'klips' },
      { body: { klips: {} }, field: 'klips' },
      { body: { klips: ['x'] }, field: 'klips.0' },
      { body: { klips: [{}] }, field: 'klips.0.klip_id' },
      { body: { klips: [{ klip_id: 7 }] }, field: 'klips.0.klip_id' },
      { body: { klips: [{ klip_id: 'x', region: '1' }] }, field: 'klips.0.region' },
      { body: { klips: [{ klip_id: 'x', region: 0 }] }, field: 'klips.0.region' },
      { body: { klips: [{ klip_id: 'x', region: 7 }] }, field: 'klips.0.region' },
      { body: { klips: [{ klip_id: 'x', position: -1 }] }, field: 'klips.0.position' },
      { body: { klips: [{ klip_id: 'x', position: 0.5 }] }, field: 'klips.0.position' },
      { body: { klips: Array.from({ length: 101 }, () => ({ klip_id: 'x' })) }, field: 'klips' },
    ],
  },
  'DELETE /tabs/{id}/klip-instances/{instance}': { prepare: withKlip },
  'GET /tabs/{id}/layout': { prepare: withKlip },
  'PUT /tabs/{id}/layout': {
    prepare: tab,
    body: { type: '50_50', state: {} },
    bad: [
      { body: { state: {} }, field: 'type' },
      { body: { type: '70_30', state: {} }, field: 'type' },
      { body: { type: '100' }, field: 'state' },
      { body: { type: '100', state: [] }, field: 'state' },
      { body: { type: '100', state: { x: {} } }, field: 'state.x.region' },
      { body: { type: '100', state: { x: { region: '1' } } }, field: 'state.x.idx' },
      { body: { type: '100', state: { x: { region: 'left', idx: 0 } } }, field: 'state.x.region' },
      { body: { type: '100', state: { x: { region: '0', idx: 0 } } }, field: 'state.x.region' },
      { body: { type: '50_50', state: { x: { region: '3', idx: 0 } } }, field: 'state.x.region' },
      { body: { type: '100', state: { x: { region: '1', idx: '0' } } }, field: 'state.x.idx' },
      { body: { type: '100', state: { desktop: { itemConfigs: [] } } }, field: 'state.desktop.region' },
      { body: { type: '100', state: { x: { region: '1', idx: 0 } } }, field: 'state' },
      { body: { type: 'grid', state: { desktop: {} } }, field: 'state.desktop.itemConfigs' },
      { body: grid({ itemConfigs: {} }), field: 'state.desktop.itemConfigs' },
      { body: grid({ itemConfigs: [{ index: [0, 0] }] }), field: 'state.desktop.itemConfigs.0.id' },
      { body: grid({ itemConfigs: [{ ...cell, index: [0] }] }), field: 'state.desktop.itemConfigs.0.index' },
      { body: grid({ itemConfigs: [{ ...cell, index: [0, -1] }] }), field: 'state.desktop.itemConfigs.0.index.1' },
      { body: grid({ itemConfigs: [{ ...cell, colSpan: 0 }] }), field: 'state.desktop.itemConfigs.0.colSpan' },
      { body: grid({ itemConfigs: [{ ...cell, height: 'tall' }] }), field: 'state.desktop.itemConfigs.0.height' },
      { body: grid({ itemConfigs: [{ ...cell, colSpan: 3 }], cols: 2 }), field: 'state.desktop.itemConfigs.0' },
      { body: grid({ itemConfigs: [cell, cell] }), field: 'state.desktop.itemConfigs.1' },
      { body: grid({ itemConfigs: [], cols: 0 }), field: 'state.desktop.cols' },
      { body: grid({ itemConfigs: [], cols: 2, colWidths: ['auto'] }), field: 'state.desktop.colWidths' },
      { body: grid({ itemConfigs: [cell] }), field: 'state' },
    ],
  },
  'GET /tabs/{id}/share-rights': { prepare: sharedTab },
  'PUT /tabs/{id}/share-rights': {
    prepare: tab,
    body: { groups: [{ group_id: 'acme-team', can_edit: true }] },
    bad: [
      { body: {}, field: 'groups' },
      { body: { groups: [{}] }, field: 'groups.0.group_id' },
      { body: { groups: [], users: [{ user_id: 1 }] }, field: 'users.0.user_id' },
    ],
  },
  'DELETE /tabs/{id}/share-rights': { prepare: tab, refuses: 400 },
  'DELETE /tabs/{id}/share-rights/{holder}': { prepare: sharedTab, bad: [{ query: 'type=team', field: 'type' }] },
  'POST /tabs/{id}/@/import': {
    prepare: withKlip,
    body: { client_id: 'bakery' },
    bad: [
      { body: {}, field: 'client_id' },
      { body: { client_id: '' }, field: 'client_id' },
      { body: { client_id: 7 }, field: 'client_id' },
    ],
  },
};
export default cases;
