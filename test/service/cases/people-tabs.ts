import { badPages, type Cases } from '../case.ts';
import type { Bench } from '../service.ts';

const given = async (bench: Bench) => {
  const tab = (await bench.call('POST', '/tabs', { body: { name: 'Sales' } })).body.meta.location!.split('/')[2]!;
  const path = '/groups/acme-team/default-tabs';
  const { location } = (await bench.call('POST', path, { body: { tab_id: tab } })).body.meta;
  return { id: 'acme-team', default_tab: location!.split('/')[4]! };
};
const onScreen = async (bench: Bench) => {
  const tab = (await bench.call('POST', '/tabs', { body: { name: 'Sales' } })).body.meta.location!.split('/')[2]!;
  const answer = await bench.call('PUT', '/users/acme-viewer/tab-instances', { body: { tab_ids: [tab] } });
  const [instance] = answer.body.data.tab_instances as { id: string }[];
  return { id: 'acme-viewer', instance: instance!.id };
};
const badChange = [
  { body: { tab_id: 'x', can_edit: 'yes' }, field: 'can_edit' },
  { body: { tab_id: 'x', visibility: 'hidden' }, field: 'visibility' },
  { body: { tab_id: 'x', index: -1 }, field: 'index' },
  { body: { tab_id: 'x', index: 1.5 }, field: 'index' },
  { body: { tab_id: 'x', index: '1' }, field: 'index' },
];

const cases: Cases = {
  'GET /groups/{id}/default-tabs': { prepare: given, bad: badPages },
  'GET /groups/{id}/default-tabs/{default_tab}': { prepare: given },
  'POST /groups/{id}/default-tabs': {
    prepare: async (bench) => {
      const tab = await bench.call('POST', '/tabs', { body: { name: 'Sales' } });
      const group = await bench.call('POST', '/groups', { body: { name: 'Sales' } });
      const [, , id] = group.body.meta.location!.split('/');
      return { id: id!, tab: tab.body.meta.location!.split('/')[2]! };
    },
    body: { tab_id: 'unknown' },
    bodyWith: ({ tab }) => ({ tab_id: tab, description: null, extra: 1 }),
    bad: [{ body: {}, field: 'tab_id' }, { body: { tab_id: 7 }, field: 'tab_id' }, ...badChange],
  },
  'PUT /groups/{id}/default-tabs/{default_tab}': {
    prepare: given,
    body: { visibility: 'permanent', tab_id: 'ignored' },
    bad: badChange,
  },
  'DELETE /groups/{id}/default-tabs/{default_tab}': { prepare: given },
  'GET /users/{id}/tab-instances': { prepare: onScreen, bad: badPages },
  'PUT /users/{id}/tab-instances': {
    prepare: onScreen,
    body: { tab_ids: [] },
    bad: [
      { body: {}, field: 'tab_ids' },
      { body: { tab_ids: 'x' }, field: 'tab_ids' },
      { body: { tab_ids: [7] }, field: 'tab_ids.0' },
    ],
  },
  'DELETE /users/{id}/tab-instances/{instance}': { prepare: onScreen },
};
export default cases;
