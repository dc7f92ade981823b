import { accounts } from './first-schema/accounts.ts';
import { datasources } from './first-schema/datasources.ts';
import { klips } from './first-schema/klips.ts';
import { publishedLinks } from './first-schema/published-links.ts';
import { tabs } from './first-schema/tabs.ts';
import { usage } from './first-schema/usage.ts';

/**
 * The tables of the first release. Whatever is deleted, an index finds what refers to it. Lists of assets are read in the order of an
 * index: a share carries the account and age of its asset for that, and neither ever changes.
 */
export const sql = [accounts, datasources, klips, tabs, publishedLinks, usage].join('');
