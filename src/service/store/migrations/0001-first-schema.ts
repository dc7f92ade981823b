import { accounts } from './first-schema/accounts.ts';
import { datasources } from './first-schema/datasources.ts';
import { klips } from './first-schema/klips.ts';
import { publishedLinks } from './first-schema/published-links.ts';
import { tabs } from './first-schema/tabs.ts';
import { usage } from './first-schema/usage.ts';

/**
 * The tables of the first release. Every foreign key has an index, so that deletes are fast. Lists of assets are read
 * in index order; therefore each share contains its asset's account and creation time, which never change.
 */
export const sql = [accounts, datasources, klips, tabs, publishedLinks, usage].join('');
