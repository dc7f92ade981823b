import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectResources } from '../../src/service/collect.ts';
import { refusals } from '../../src/service/http/refusal.ts';
import { startService } from '../../src/service/service.ts';
import { Bench, scratch } from './service.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/service.md'), 'utf8');

describe('docs/service.md', () => {
  it('lists exactly the endpoints that there are, with their permission and basis', async () => {
    const endpoints = (await collectResources()).flatMap((resource) => resource.endpoints);
    const declared = endpoints.map(
      ({ method, path, permission, everyPermission, basis }) =>
        `| ${method} ${path} | ${permission.join(everyPermission ? ' and ' : ' or ') || 'none'} | ${basis} |`,
    );
    const listed = page.split('\n').filter((line) => /^\| (GET|POST|PUT|DELETE) /.test(line));
    expect(listed.toSorted()).toEqual(declared.toSorted());
  });

  it('shows fixtures that load', async () => {
    const file = join(await scratch(), 'fixtures.yaml');
    await writeFile(file, /```yaml\n([\s\S]*?)```/.exec(page)![1]!);
    const service = new Bench(await startService({ data: 'memory', fixtures: file }));
    onTestFinished(() => service.close());
    const key = '0123456789abcdef0123456789abcdef01234567';
    expect((await service.call('GET', '/profile', { key })).body.data).toMatchObject({ email: 'ann@acme.test' });
  });

  it('names every error code', () => {
    for (const code of Object.keys(refusals)) expect(page).toContain(code);
  });
});
