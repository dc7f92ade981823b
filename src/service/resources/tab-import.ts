import { Type } from 'typebox';
import { newId } from '../../lib/ids.ts';
import { requireDashboardCapacity } from '../account-capacity.ts';
import { clientNamed } from '../client-named.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { forbidden, notFound } from '../http/api-error.ts';
import { requested } from '../http/fields.ts';
import { requireImportable } from '../import-rules.ts';
import { copyKlip } from '../klip-copy.ts';
import { insertKlipInstance, klipInstancesOf } from '../store/klip-instances.ts';
import { type Klip, klipAsShared, klipById } from '../store/klips.ts';
import { canSee } from '../store/shares.ts';
import { insertTab, type Tab, tabAsShared, tabById } from '../store/tabs.ts';

function findImportable(call: ApiCall): Tab {
  const tab = tabById(call.context.db, call.params.id!);
  if (tab?.accountId !== call.account.id) throw notFound(`Dashboard not found: ${call.params.id}`);
  requireImportable(call, tabAsShared(tab), 'The dashboard');
  return tab;
}

/**
 * Returns a Klip if the caller may copy it. A user who may see a dashboard may see the content of its Klips, but not
 * their definitions, which a copy would reveal.
 */
function copyableKlip({ context, caller }: ApiCall, id: string): Klip {
  const klip = klipById(context.db, id)!;
  if (canSee(context.db, klipAsShared(klip), caller)) return klip;
  throw forbidden('The dashboard contains a Klip that is not shared with you');
}

/**
 * Copies a dashboard with its layout, Klips and data sources. A Klip or data source that occurs several times is copied
 * only once. Returns the ID of the copy.
 */
function copyTab(call: ApiCall, tab: Tab, accountId: string): string {
  const { db, clock } = call.context;
  const id = newId();
  const createdAt = clock.now();
  const klips = new Map<string, string>();
  const sources = new Map<string, string>();
  db.durably(() => {
    requireDashboardCapacity(db, accountId);
    insertTab(db, { ...tab, id, accountId, createdBy: call.caller.user.id, createdAt });
    for (const instance of klipInstancesOf(db, tab.id)) {
      const klipId =
        klips.get(instance.klipId) ?? copyKlip(call, copyableKlip(call, instance.klipId), accountId, sources);
      klips.set(instance.klipId, klipId);
      insertKlipInstance(db, { ...instance, id: newId(), tabId: id, klipId, createdAt });
    }
  });
  return id;
}

export default {
  name: 'tab-import',
  summary: 'Importing a dashboard into a client account',
  endpoints: [
    defineEndpoint({
      id: 'importDashboard',
      method: 'POST',
      path: '/tabs/{id}/@/import',
      summary: 'Copies a dashboard, its Klips and their data sources, without their data, into a client account',
      basis: 'decided',
      permission: ['tab.import'],
      client: false,
      body: { client_id: Type.String({ minLength: 1 }) },
      answer: { status: 201, data: requested('import') },
      find: (call) => findImportable(call),
      do: (call, tab) => {
        const client = clientNamed(call.context, call.caller, call.body.client_id);
        return { meta: { location: `/tabs/${copyTab(call, tab, client.id)}` }, data: { op_requested: 'import' } };
      },
    }),
  ],
} satisfies Resource;
