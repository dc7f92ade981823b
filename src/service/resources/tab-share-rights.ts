import type { Resource } from '../endpoint.ts';
import { shareEndpoints } from '../share-endpoints.ts';
import { tabAsShared } from '../store/tabs.ts';
import { findEditableTab, findTab } from '../tab-rules.ts';

export default {
  name: 'tab-share-rights',
  summary: 'Who may see and change a dashboard',
  endpoints: shareEndpoints({
    path: '/tabs/{id}/share-rights',
    noun: 'Dashboard',
    what: 'a dashboard',
    basis: 'decided',
    permission: ['tab.share'],
    seen: (call) => tabAsShared(findTab(call)),
    editable: (call) => tabAsShared(findEditableTab(call)),
  }),
} satisfies Resource;
