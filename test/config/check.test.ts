import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check.ts';
import { describeConfig } from '../../src/config/describe.ts';
import { catalogue, configWith, folderWith, goodJob, id, load, transforms } from './fixtures.ts';

async function verdict(text: string): Promise<string> {
  const folder = await folderWith({ 'sluice.yaml': text });
  const file = join(folder, 'sluice.yaml');
  return (await checkConfig(file, { env: {}, catalogue, transforms })).verdict.replace(file, 'F');
}

it('a check ends with one sentence that counts jobs, faults and remarks, and says what can run', async () => {
  const bad = goodJob.replace('orders', 'bad').replace(id('a'), id('b')).replace('csv', 'cvs');
  expect(await verdict(configWith(goodJob))).toBe('F: 1 job, no fault');
  expect(await verdict(configWith(goodJob.replace(id('a'), 'short-id')))).toBe('F: 1 job, no fault, 1 remark');
  expect(await verdict(configWith(goodJob + bad))).toBe('F: 1 fault; 1 job cannot run, 1 can');
  expect(await verdict(configWith(goodJob, 'stat: x'))).toBe('F: 1 fault; nothing can run until the file is mended');
  expect(await verdict(configWith(goodJob).replace('sources:', 'sources:\n  unused: {connector: nope}'))).toBe(
    'F: 1 fault',
  );
});

it('a config in force can be shown: in the words of the file, with defaults, without secrets', async () => {
  const text = configWith(goodJob).replace('host: db', 'password: hunter22\n    host: db');
  const { config } = await load(text.replace('select 1', "select 'hunter22'"));
  const shown = describeConfig(config!);
  expect(shown.destinations.main).toMatchObject({ api_key: '[secret]', requests_per_day: 1000, timeout_seconds: 60 });
  expect(shown.sources.shop).toMatchObject({ connector: 'warehouse', password: '[secret]', port: 5432 });
  expect(shown.jobs.orders).toMatchObject({
    source: 'shop',
    query: { sql: "select '[redacted]'" },
    format: { type: 'csv', delimiter: ',' },
    target: { kind: 'instance', instance: id('a') },
    destination: 'main',
    enabled: true,
  });
  expect(JSON.stringify(shown)).not.toMatch(/hunter22|abcdefabcdef/);
});
