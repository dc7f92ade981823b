import { Type } from 'typebox';
import { newId } from '../../lib/ids.ts';
import { requireLinkCapacity } from '../account-capacity.ts';
import { hashPassword } from '../auth/passwords.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { type ApiError, notFound } from '../http/api-error.ts';
import { isoTime, isoTimeOrNull, someName, timeText } from '../http/fields.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { addressOf, visibilities, visibilityOf } from '../published/address.ts';
import { deleteLink, insertLink, linkById, linksOf, type PublishedLink, updateLink } from '../store/published-links.ts';
import { findEditableTab, findTab } from '../tab-rules.ts';

const path = '/dashboard-published-links';
const permission = ['tab.publish'] as const;

const linkFields = {
  id: Type.String(),
  published_link_name: Type.String(),
  dashboard_url: Type.String(),
  visibility: Type.Enum(visibilities),
  date_created: isoTime,
  created_by: defineModel('LinkCreator', { user_public_id: Type.String(), user_name: Type.String() }),
  date_last_accessed: isoTimeOrNull,
};
const linkAnswer = defineModel('PublishedLink', linkFields);

const settings = {
  password: Type.Optional(Type.String({ maxLength: 1000, 'x-rule': 'must be a string of at most 1000 characters' })),
  isPublic: Type.Optional(Type.Boolean()),
  theme: Type.Optional(Type.Enum(['light', 'dark'])),
  logo: Type.Optional(
    Type.String({
      maxLength: 2000,
      pattern: '^(https?://[^\\s/?#]+\\S*)?$',
      'x-rule': 'must be an http or https URL, or empty for none',
    }),
  ),
  social: Type.Optional(Type.Boolean()),
  wantsAdvertising: Type.Optional(Type.Boolean()),
  useIpRanges: Type.Optional(Type.Boolean()),
};

interface Settings {
  name?: string;
  password?: string;
  isPublic?: boolean;
  theme?: 'light' | 'dark';
  logo?: string;
  social?: boolean;
  wantsAdvertising?: boolean;
  useIpRanges?: boolean;
}

/** Describes a link for a response. Never includes the password or its hash. */
function describe({ host }: ApiCall, link: PublishedLink): object {
  return {
    id: link.id,
    published_link_name: link.name,
    dashboard_url: addressOf(host, link),
    visibility: visibilityOf(link),
    date_created: timeText(link.createdAt),
    created_by: { user_public_id: link.createdBy, user_name: link.creatorName },
    date_last_accessed: timeText(link.dateLastAccessed),
  };
}

const unset = {
  name: '',
  password: null,
  isPublic: 0,
  theme: 'light',
  logo: '',
  social: 0,
  wantsAdvertising: 0,
  useIpRanges: 0,
} as const;

type Kept = Omit<PublishedLink, 'id' | 'tabId' | 'createdBy' | 'creatorName' | 'createdAt' | 'dateLastAccessed'>;

/** Returns a link's settings after a request. Settings that the request doesn't contain stay unchanged. */
function settled(before: Kept, given: Settings, password: string | null | undefined): Kept {
  const flag = (name: 'isPublic' | 'social' | 'wantsAdvertising' | 'useIpRanges'): 0 | 1 => {
    const value = given[name];
    return value === undefined ? before[name] : value ? 1 : 0;
  };
  return {
    name: given.name ?? before.name,
    password: password === undefined ? before.password : password,
    isPublic: flag('isPublic'),
    theme: given.theme ?? before.theme,
    logo: given.logo ?? before.logo,
    social: flag('social'),
    wantsAdvertising: flag('wantsAdvertising'),
    useIpRanges: flag('useIpRanges'),
  };
}

/**
 * Returns the hash of the new password. Returns null if the password is empty, which removes it, and undefined if the
 * request doesn't contain a password.
 */
async function hashOf({ password }: Settings): Promise<string | null | undefined> {
  if (password === undefined) return undefined;
  return password === '' ? null : hashPassword(password);
}

/**
 * Creates a published link. Looks up the dashboard again after hashing the password, because the dashboard may have
 * been deleted or unshared in the meantime.
 */
async function create(call: ApiCall<unknown, Settings>): Promise<PublishedLink> {
  const { context, caller, body } = call;
  const password = await hashOf(body);
  const { id: createdBy, firstName, lastName, email } = caller.user;
  const creatorName = `${firstName} ${lastName}`.trim() || email;
  return context.db.durably(() => {
    const { id: tabId, accountId } = findEditableTab(call);
    const id = newId();
    const own = { id, tabId, createdBy, creatorName, createdAt: context.clock.now() };
    const settings = settled(unset, body, password);
    requireLinkCapacity(context.db, accountId, settings);
    insertLink(context.db, { ...own, ...settings });
    return linkById(context.db, id)!;
  });
}

async function change(call: ApiCall<unknown, Settings>): Promise<PublishedLink> {
  const { context, body } = call;
  const password = await hashOf(body);
  return context.db.durably(() => {
    const link = findEditable(call);
    const settings = settled(link, body, password);
    if (settings.isPublic !== link.isPublic) requireLinkCapacity(context.db, call.account.id, settings);
    updateLink(context.db, link.id, settings);
    return linkById(context.db, link.id)!;
  });
}

/**
 * Returns a link to a dashboard that the caller may see. Pass {@link findEditableTab} as `find` to require that the
 * caller may change the dashboard.
 */
function findLink(call: ApiCall, find = findTab): PublishedLink {
  const id = call.params.id!;
  const refuse = (): ApiError => notFound(`Published link not found: ${id}`);
  const link = linkById(call.context.db, id);
  if (link === undefined) throw refuse();
  find(call, link.tabId, refuse);
  return link;
}

function findEditable(call: ApiCall): PublishedLink {
  return findLink(call, findEditableTab);
}

export default {
  name: 'published-links',
  summary: 'Addresses where people without an account can view a dashboard',
  endpoints: [
    defineEndpoint({
      id: 'publishDashboard',
      method: 'POST',
      path: `${path}/{id}`,
      summary: 'Publishes the dashboard with this ID',
      basis: 'document',
      decided: '`meta.location`; `anyone_with_link` for a link with neither password nor `isPublic`',
      missing: 'IP ranges: `useIpRanges` is stored but not enforced',
      permission,
      body: { name: someName, ...settings },
      answer: { status: 201, data: linkAnswer },
      find: (call) => findEditableTab(call),
      do: async (call) => {
        const link = await create(call);
        return { data: describe(call, link), meta: { location: `${path}/${link.id}` } };
      },
    }),
    defineEndpoint({
      id: 'getPublishedLink',
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'One published link',
      basis: 'document',
      missing: 'the settings (theme, logo, social and others): the document does not return them either',
      permission,
      answer: { status: 200, data: linkAnswer },
      find: (call) => findLink(call),
      do: (call, link) => ({ data: describe(call, link) }),
    }),
    defineEndpoint({
      id: 'listPublishedLinks',
      method: 'GET',
      path,
      summary: 'The published links of a dashboard',
      basis: 'document',
      permission,
      query: { ...pageQuery, dashboard_id: Type.String({ minLength: 1 }) },
      answer: { status: 200, data: Type.Object({ published_links: Type.Array(linkAnswer) }) },
      find: (call) => findTab(call, call.query.dashboard_id),
      do: (call, tab) => {
        const listed = linksOf(call.context.db, tab.id, call.query);
        return listResult('published_links', listed, (link) => describe(call, link));
      },
    }),
    defineEndpoint({
      id: 'updatePublishedLink',
      method: 'PUT',
      path: `${path}/{id}`,
      summary: 'Changes a published link; an empty password removes the password',
      basis: 'document',
      decided: 'an empty password removes the password',
      missing: 'IP ranges: `useIpRanges` is stored but not enforced',
      permission,
      body: { name: Type.Optional(someName), ...settings },
      answer: { status: 200, data: linkAnswer },
      find: (call) => findEditable(call),
      do: async (call) => ({ data: describe(call, await change(call)) }),
    }),
    defineEndpoint({
      id: 'deletePublishedLink',
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Removes a published link permanently',
      basis: 'document',
      permission,
      find: (call) => findEditable(call),
      act: ({ context }, link) => context.db.durably(() => deleteLink(context.db, link.id)),
    }),
  ],
} satisfies Resource;
