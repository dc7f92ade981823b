import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInstances } from '../src/service/datasource-instancing.ts';
import { loadFixtures } from '../src/service/fixtures/load.ts';
import { Database } from '../src/service/store/database.ts';
import { insertDatasource } from '../src/service/store/datasources.ts';
import { share } from '../src/service/store/shares.ts';

/**
 * Two companies in one data folder, one with few data sources and one with many, and users with different permissions.
 */
export const companies = { small: 100, large: 100_000 } as const;
export type Company = keyof typeof companies;

/**
 * The users: an admin sees everything, a member sees everything through a group, and a guest sees fifty shared data
 * sources.
 */
export const people = { admin: 'Admin', member: 'View-Only', guest: 'View-Only' } as const;
export type Person = keyof typeof people;

const guestSees = 50;

export function seenBy(company: Company, person: Person): number {
  return person === 'guest' ? guestSees : companies[company];
}

export function keyOf(company: Company, person: Person): string {
  return Buffer.from(`${company} ${person}`.padEnd(20, '.')).toString('hex');
}

export const sourceId = (company: Company, index: number): string => `${company}-source-${index}`;

/**
 * A rate limit that no machine can reach: the server checks every call against the limits, but no call exceeds them.
 */
const endless = 1_000_000_000;

/** Writes both companies' data to a folder. Their data sources alternate, as in a shared service. */
export async function makeServiceWorld(folder: string): Promise<void> {
  const file = join(folder, 'fixtures.json');
  await writeFile(file, JSON.stringify({ companies: (Object.keys(companies) as Company[]).map(companyFixture) }));
  const db = await Database.open({ folder });
  try {
    await loadFixtures(db, file, 0);
    db.transaction(() => {
      for (let index = 0; index < companies.large; index++) {
        for (const company of Object.keys(companies) as Company[]) {
          if (index < companies[company]) addSource(db, company, index);
        }
      }
    });
  } finally {
    db.close();
  }
}

function companyFixture(company: Company): object {
  const users = (Object.keys(people) as Person[]).map((person) => ({
    id: `${company}-${person}`,
    email: `${person}@${company}.test`,
    role: people[person],
    api_keys: [keyOf(company, person)],
  }));
  return {
    id: company,
    name: company,
    plan: 'enterprise',
    requests_per_second: endless,
    requests_per_day: endless,
    users,
    groups: [{ id: `${company}-team`, name: 'Team', members: [`member@${company}.test`] }],
  };
}

function addSource(db: Database, company: Company, index: number): void {
  const id = sourceId(company, index);
  const source = {
    id,
    accountId: company,
    name: `Source ${index}`,
    description: 'What was sold, by country and day',
    connector: 'simple_rest',
    format: 'json',
    refreshInterval: 0,
    noRefresh: 1,
    properties: '{}',
    createdBy: `${company}-admin`,
    createdAt: 1_700_000_000_000 + index,
  } as const;
  createInstances(db, { source, properties: {} }, insertDatasource);
  const right = { canEdit: false, now: index };
  share(db, { kind: 'datasource', id }, { kind: 'group', holderId: `${company}-team`, ...right });
  // Shares every nth data source with the guest, so that the guest's data sources aren't all on the first page.
  if (index % (companies[company] / guestSees) === 0)
    share(db, { kind: 'datasource', id }, { kind: 'user', holderId: `${company}-guest`, ...right });
}
