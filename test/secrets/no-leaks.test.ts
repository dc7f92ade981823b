import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { prepareRecord } from '../../src/daemon/config/config-record.ts';
import { renderProblem } from '../../src/lib/problem.ts';
import { forgetSecrets, redact } from '../../src/lib/redact.ts';
import { catalog, configWith, folderWith, goodJob, transforms } from '../config/fixtures.ts';
import { makeWorld } from '../journey/world.ts';
import fc, { runsOf } from '../property.ts';
import { Double, variable } from './double.ts';

afterEach(forgetSecrets);

/** A Vault that returns the result of `value` for every secret except those named `plain`. */
async function vaultOf(value: () => string) {
  const server = await Double.start(({ path }) => {
    if (path.includes('mounts')) return { body: { data: { path: 'kv/', options: { version: '2' } } } };
    return { body: { data: { data: { value: path.endsWith('/plain') ? 'another-password' : value() } } } };
  });
  return { VAULT_ADDR: server.url, VAULT_TOKEN: 'vault-token' };
}

// Neither the option nor the path shows that the value is secret, but such values are registered anyway.
it("a secret from a provider never appears in a config's errors or record, whichever option uses it", async () => {
  let value = '';
  const env = await vaultOf(() => value);
  const secret = variable('vault:kv/x#value');
  const text = configWith(goodJob.replace('select 1', secret), `timezone: '${secret}'`).replace(
    'host: db.example.com',
    `host: '${secret}'\n    port: '${secret}'\n    mode: '${secret}'\n    auth: {realm: '${secret}'}`,
  );
  const sound = configWith(goodJob.replace('select 1', secret)).replace('db.example.com', `'${secret}'`);
  const folder = await folderWith({ 'faulty.yaml': text, 'sound.yaml': sound });
  // Longer than any word in a message, and without spaces, which redaction may join across lines.
  const values = fc.stringMatching(/^[!-~]{12,40}$/);
  await fc.assert(
    fc.asyncProperty(values, async (made) => {
      value = made;
      for (const file of ['faulty.yaml', 'sound.yaml']) {
        const loaded = await loadConfig(join(folder, file), { env, catalog, transforms });
        const shown = loaded.problems.map((problem) => redact(renderProblem(problem)));
        const record = await prepareRecord({ file, sha256: '' }, loaded);
        const { inflateSync } = await import('node:zlib');
        const kept = inflateSync(Buffer.from(record.shown, 'base64')).toString();
        const written = [
          ...shown,
          kept,
          redact(JSON.stringify(record.faults)),
          redact(JSON.stringify(record.leftOut)),
        ].join('\n');
        expect(written).not.toContain(made);
        expect(written).not.toContain(JSON.stringify(made).slice(1, -1));
      }
      forgetSecrets();
    }),
    { numRuns: runsOf(25) },
  );
});

it('a secret from a provider never appears in the output or state folder of a failed run that uses it', async () => {
  const value = 'from-vault-Zq7-0123456789';
  const env = await vaultOf(() => value);
  const secret = variable('vault:kv/x#value');
  const world = await makeWorld();
  const home = await world.home();
  const source = {
    connector: 'db',
    driver: 'postgres',
    host: '127.0.0.1',
    port: 1,
    database: secret,
    user: secret,
    password: variable('vault:kv/plain#value'),
  };
  const missing = { connector: 'file' };
  await home.config({
    destinations: { main: { url: world.url, api_key: variable('vault:kv/plain#value'), ask_usage: false } },
    sources: { shop: source, files: missing },
    jobs: {
      a: { source: 'shop', query: `select '${secret}'`, format: 'csv', target: await world.instance(), retry: 'off' },
      b: { source: 'files', query: `${secret}.csv`, format: 'csv', target: await world.instance() },
      c: { source: 'files', query: 'c.csv', format: 'csv', target: await world.instance() },
    },
  });
  await home.write('c.csv', 'id\n1\n');
  const ended = await home.sync({ env, args: ['--log', 'debug', '--wait', '0'] });
  expect(ended.jobs.map(({ state }) => state).sort()).toEqual(['failed', 'failed', 'waiting_login']);
  for (const args of [['status', '--json'], ['config', 'show', '--file-on-disk', '--json'], ['check']]) {
    const { stdout, stderr } = await home.sluice(args, { env });
    expect(`${stdout}${stderr}`).not.toContain(value);
  }
  expect(JSON.stringify(ended)).not.toContain(value);
  const files = await readdir(home.folder, { recursive: true, withFileTypes: true });
  const written = files.filter((file) => file.isFile());
  expect(written.length).toBeGreaterThan(3);
  for (const { parentPath, name } of written) {
    expect((await readFile(join(parentPath, name))).includes(value), name).toBe(false);
  }
});
