import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check.ts';
import { catalog, configWith, folderWith, goodJob, id, transforms } from './fixtures.ts';

async function verdict(text: string): Promise<string> {
  const folder = await folderWith({ 'sluice.yaml': text });
  const file = join(folder, 'sluice.yaml');
  return (await checkConfig(file, { env: {}, catalog, transforms })).verdict.replace(file, 'F');
}

it('a check ends with one sentence that counts jobs, errors and warnings, and says what can run', async () => {
  const bad = goodJob.replace('orders', 'bad').replace(id('a'), id('b')).replace('csv', 'cvs');
  expect(await verdict(configWith(goodJob))).toBe('F: 1 job, no errors');
  expect(await verdict(configWith(goodJob.replace(id('a'), 'short-id')))).toBe('F: 1 job, no errors, 1 warning');
  expect(await verdict(configWith(goodJob + bad))).toBe('F: 1 error; 1 job cannot run, 1 can');
  expect(await verdict(configWith(goodJob, 'stat: x'))).toBe('F: 1 error; no job can run until they are fixed');
  expect(await verdict(configWith(goodJob).replace('sources:', 'sources:\n  unused: {connector: nope}'))).toBe(
    'F: 1 error',
  );
});
