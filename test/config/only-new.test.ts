import { describe, expect, it } from 'vitest';
import { loadCatalog, openCatalog } from '../../src/config/catalog/catalog.ts';
import type { Connector } from '../../src/sdk/connector.ts';
import { load } from './fixtures.ts';

const env = { KEY: 'k'.repeat(40) };

/** The advice that `check` gives for an incremental job with this service. */
async function advice(id: string, source: object, query: object): Promise<string | undefined> {
  const text = JSON.stringify({
    destinations: { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: 'abcdefabcdef' } },
    sources: { s: { connector: id, ...source } },
    jobs: { j: { source: 's', query: { ...query, incremental: true }, format: 'csv', target: 'a'.repeat(32) } },
  });
  const { problems, warnings } = await load(text, { env, catalog: () => openCatalog() });
  expect(problems.map(({ message }) => message)).toEqual([]);
  return warnings.find(({ code }) => code === 'CONFIG_ONLY_NEW')?.next;
}

it('refuses a job that deletes files, but does not keep their rows', async () => {
  const query = { path: '*.csv', files: 'changed', after_delivery: 'delete' };
  const codesWith = async (more: object) => {
    const text = JSON.stringify({
      destinations: { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: 'abcdefabcdef' } },
      sources: { s: { connector: 'file' } },
      jobs: { j: { source: 's', query, format: 'csv', target: 'a'.repeat(32), ...more } },
    });
    return (await load(text, { env, catalog: () => openCatalog() })).problems.map(({ code }) => code);
  };
  expect(await codesWith({})).toEqual(['CONFIG_AFTER_DELIVERY']);
  expect(await codesWith({ write: 'replace' })).toEqual(['CONFIG_AFTER_DELIVERY']);
  expect(await codesWith({ write: 'append' })).toEqual([]);
});

it('refuses a job that moves files which another job may read', async () => {
  const job = (path: string, more: object, target: string) => ({
    ...{ source: 's', query: { path, files: 'changed', ...more }, format: 'csv', write: 'append' },
    target: target.repeat(32),
  });
  const codesWith = async (path: string, more: object = {}) => {
    const deleting = { after_delivery: 'delete' };
    const text = JSON.stringify({
      destinations: { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: 'abcdefabcdef' } },
      sources: { s: { connector: 'file' }, t: { connector: 'file', folder: 'in' } },
      jobs: { j: { ...job('in/a-*.csv', deleting, 'a'), enabled: false }, k: { ...job(path, {}, 'b'), ...more } },
    });
    return (await load(text, { env, catalog: () => openCatalog() })).problems.map(({ code }) => code);
  };
  for (const path of ['in/*.csv', 'in/a-1.csv', '**/*', 'in/a-*.csv'])
    expect(await codesWith(path), path).toEqual(['CONFIG_INPUT_SHARED']);
  expect(await codesWith('*.csv', { source: 't' })).toEqual(['CONFIG_INPUT_SHARED']);
  expect(await codesWith('in/*.csv', { enabled: false })).toEqual([]);
  for (const path of ['in/b-*.csv', 'out/*.csv', 'in/a-*.json']) expect(await codesWith(path), path).toEqual([]);
});

const login = { login: { client_id: 'a', client_secret: 'b' } };

describe('the advice for an incremental job', () => {
  it("names the key of the stream's rows", async () => {
    const next = await advice('dropbox', login, { stream: 'files', deleted: true });
    expect(next).toContain('write: {disposition: merge, key: [path]}');
    expect(await advice('xero', login, { stream: 'invoices' })).toContain('key: [id]}');
    expect(await advice('salesforce', login, { stream: 'records', object: 'Account' })).toContain('key: [Id]}');
    expect(await advice('marketo', { munchkin: 'm', ...login }, { stream: 'programs' })).toContain('key: [id]}');
  });

  it("doesn't name a key if the stream has none, or if only the user knows it", async () => {
    expect(await advice('survey_monkey', { token: 't' }, { stream: 'answers' })).not.toContain('key:');
    const facebook = await advice('facebook', { token: 't' }, { stream: 'insights', account: '1' });
    expect(facebook).toContain('key: […]} and the columns that identify a row');
  });

  it("names columns that the connector's page lists, for every resumable stream", async () => {
    const { connectors } = await loadCatalog();
    const advised = [...connectors.values()].flatMap((connector) =>
      streamsOf(connector).flatMap((stream) =>
        (connector.rowKey?.({ stream } as never) ?? []).map((column) => ({ id: connector.id, stream, column })),
      ),
    );
    const listed = advised.map(({ id, stream }) => listOf(connectors.get(id)!, stream));
    // Salesforce itself lists its fields.
    const missing = advised.filter(
      ({ id, column }, i) => id !== 'salesforce' && !listed[i]!.includes(`\`${column}\` `),
    );
    expect(missing).toEqual([]);
    expect(advised.length).toBeGreaterThan(10);
  });
});

/** What the page says about a stream's columns. */
function listOf({ columns = '' }: Connector, stream: string): string {
  return columns.split(`**${stream}**`)[1]?.split('\n**')[0] ?? '';
}

function streamsOf({ query }: Connector): string[] {
  return (query.stream?.schema.enum as string[] | undefined) ?? [];
}
