import { Type } from 'typebox';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { deleteKlipInstance, klipInstancesOf, placeKlipInstance } from '../store/klip-instances.ts';
import { type Tab, updateTab } from '../store/tabs.ts';
import { type LayoutType, layoutOf, layoutTypes } from '../tab-layout.ts';
import { layoutAnswer, readLayout, writeLayout } from '../tab-layout-reading.ts';
import { findEditableTab, findTab } from '../tab-rules.ts';

const path = '/tabs/{id}/layout';
const permission = ['dashboard.share'] as const;

interface LayoutBody {
  type: LayoutType;
  state: Record<string, unknown>;
}

/**
 * Changes the dashboard to the given layout, and removes Klip instances that the layout doesn't list. Validates the
 * whole layout before changing anything.
 */
function layOut({ context, body }: ApiCall<unknown, LayoutBody>, { id }: Tab): void {
  const { db, clock } = context;
  db.durably(() => {
    const standing = klipInstancesOf(db, id);
    const wanted = readLayout(body, standing);
    const kept = new Set(wanted.placed.map((one) => one.id));
    for (const one of standing) if (!kept.has(one.id)) deleteKlipInstance(db, one.id);
    for (const one of wanted.placed) placeKlipInstance(db, one);
    updateTab(db, id, { layoutType: wanted.type, cols: wanted.cols, now: clock.now() });
  });
}

export default {
  name: 'tab-layout',
  summary: 'The layout of a dashboard',
  endpoints: [
    defineEndpoint({
      id: 'getDashboardLayout',
      method: 'GET',
      path,
      summary: 'The layout of a dashboard, which is always a grid',
      basis: 'document',
      decided: 'the layout is always a grid; IDs begin with `gridklip-`',
      permission,
      answer: { status: 200, data: layoutAnswer },
      find: (call) => findTab(call),
      do: ({ context }, tab) => ({ data: writeLayout(layoutOf(tab), klipInstancesOf(context.db, tab.id)) }),
    }),
    defineEndpoint({
      id: 'replaceDashboardLayout',
      method: 'PUT',
      path,
      summary: 'Replaces the layout of a dashboard; Klip instances that are left out are removed',
      basis: 'document',
      decided: 'the types; an unknown instance returns 400, and nothing changes',
      missing: 'column widths: accepted, and returned as `auto`',
      permission,
      body: {
        type: Type.Enum(layoutTypes),
        state: Type.Record(Type.String(), Type.Unknown(), { 'x-rule': 'must be an object whose values are positions' }),
      },
      find: (call) => findEditableTab(call),
      act: (call, tab) => layOut(call, tab),
    }),
  ],
} satisfies Resource;
