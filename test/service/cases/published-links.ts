import { badPages, type Cases } from '../case.ts';
import { createTab, publish } from '../dashboards.ts';
import type { Bench } from '../service.ts';

const link = async (given: Bench): Promise<Record<string, string>> => ({
  id: await publish(given, await createTab(given)),
});

/** Invalid values of the fields, both for creating and for updating. */
const badSettings = [
  { password: 7, field: 'password' },
  { password: 'x'.repeat(1001), field: 'password' },
  { isPublic: 'true', field: 'isPublic' },
  { theme: 'blue', field: 'theme' },
  { logo: 'logo.png', field: 'logo' },
  { logo: 'javascript:alert(1)', field: 'logo' },
  { logo: 'https://', field: 'logo' },
  { logo: 'https://x.test/a b', field: 'logo' },
  { social: 1, field: 'social' },
  { wantsAdvertising: 'no', field: 'wantsAdvertising' },
  { useIpRanges: {}, field: 'useIpRanges' },
].map(({ field, ...settings }) => ({ body: { name: 'A', ...settings }, field }));

const cases: Cases = {
  'POST /dashboard-published-links/{id}': {
    prepare: async (given) => ({ id: await createTab(given) }),
    body: { name: 'For all', password: null, logo: 'https://x.test/logo.png' },
    bad: [
      { body: {}, field: 'name' },
      { body: { name: null }, field: 'name' },
      { body: { name: '' }, field: 'name' },
      ...badSettings,
    ],
  },
  'GET /dashboard-published-links/{id}': { prepare: link },
  'GET /dashboard-published-links': {
    prepare: async (given) => {
      const id = await createTab(given);
      await publish(given, id);
      return { id };
    },
    query: 'dashboard_id={id}',
    bad: [
      { query: '', field: 'dashboard_id' },
      { query: 'dashboard_id=', field: 'dashboard_id' },
      ...badPages.map(({ query, field }) => ({ query: `dashboard_id={id}&${query}`, field })),
    ],
  },
  'PUT /dashboard-published-links/{id}': {
    prepare: link,
    body: { theme: 'dark' },
    bad: [{ body: { name: ' ' }, field: 'name' }, ...badSettings],
  },
  'DELETE /dashboard-published-links/{id}': { prepare: link },
};
export default cases;
