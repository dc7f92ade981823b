import type { Listed, Page } from '../http/page.ts';
import type { Database } from './database.ts';
import { listRows } from './listing.ts';

/** A published link's settings, which are set when the link is created and can be changed later. */
interface LinkSettings {
  readonly name: string;
  /** Hash of the password. */
  readonly password: string | null;
  readonly isPublic: 0 | 1;
  readonly theme: 'light' | 'dark';
  /** URL of a logo image. An empty string means that there is no logo. */
  readonly logo: string;
  readonly social: 0 | 1;
  readonly wantsAdvertising: 0 | 1;
  readonly useIpRanges: 0 | 1;
}

/** A published link, where people without an account can see a dashboard. */
export interface PublishedLink extends LinkSettings {
  readonly id: string;
  readonly tabId: string;
  readonly createdBy: string;
  /** The creator's current name. If the creator was deleted, this is the creator's name when the link was created. */
  readonly creatorName: string;
  readonly createdAt: number;
  readonly dateLastAccessed: number | null;
}

const columns = `l.id, l.tab_id as tabId, l.name, l.password, l.is_public as isPublic, l.theme, l.logo, l.social,
  l.wants_advertising as wantsAdvertising, l.use_ip_ranges as useIpRanges, l.created_by as createdBy,
  case when u.id is null then l.creator_name else coalesce(nullif(trim(u.first_name || ' ' || u.last_name), ''), u.email)
  end as creatorName, l.created_at as createdAt, l.date_last_accessed as dateLastAccessed`;
const from = 'from published_links l left join users u on u.id = l.created_by';

export function linkById(db: Database, id: string): PublishedLink | undefined {
  return db.get<PublishedLink>(`select ${columns} ${from} where l.id = ?`, id);
}

/** Returns one page of the links to a dashboard, oldest first. */
export function linksOf(db: Database, tabId: string, page: Page): Listed<PublishedLink> {
  const listing = { columns, from: `${from} where l.tab_id = ?`, order: 'l.created_at, l.id' };
  return listRows<PublishedLink>(db, listing, [tabId], page);
}

export function insertLink(db: Database, link: Omit<PublishedLink, 'dateLastAccessed'>): void {
  const { id, tabId, createdBy, creatorName, createdAt } = link;
  db.insert('published_links', { id, tabId, ...settingsOf(link), createdBy, creatorName, createdAt });
}

/** Replaces all settings of a published link. */
export function updateLink(db: Database, id: string, settings: LinkSettings): void {
  db.update('published_links', id, settingsOf(settings));
}

function settingsOf(link: LinkSettings) {
  const { name, password, isPublic, theme, logo, social, wantsAdvertising, useIpRanges } = link;
  return { name, password, isPublic, theme, logo, social, wantsAdvertising, useIpRanges };
}

export function deleteLink(db: Database, id: string): void {
  db.run('delete from published_links where id = ?', id);
}

const hourMs = 3_600_000;

/** Counts one view of a published dashboard in the current hour. */
export function countView(
  db: Database,
  { link, tab, now }: { link: PublishedLink; tab: { accountId: string; name: string }; now: number },
): void {
  db.run('update published_links set date_last_accessed = ? where id = ?', now, link.id);
  db.run(
    `insert into published_link_views (account_id, hour, link_id, tab_name, is_public, has_password, views)
     values (?, ?, ?, ?, ?, ?, 1) on conflict do update set views = views + 1, tab_name = excluded.tab_name,
     is_public = excluded.is_public, has_password = excluded.has_password`,
    tab.accountId,
    Math.floor(now / hourMs) * hourMs,
    link.id,
    tab.name,
    link.isPublic,
    link.password === null ? 0 : 1,
  );
}
