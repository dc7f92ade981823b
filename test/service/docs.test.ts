import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectControls, collectResources } from '../../src/service/collect.ts';
import { resets, ruleFields } from '../../src/service/faults/fault-rule.ts';
import { errorStatuses } from '../../src/service/http/api-error.ts';
import { withBehaviourTable } from '../../src/service/openapi/behaviour-table.ts';
import { startService } from '../../src/service/service.ts';
import { Bench, bench, scratch } from './service.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/service.md'), 'utf8');

describe('docs/service.md', () => {
  it('has a row for each endpoint, with its permissions, our own decisions and what is missing', async () => {
    const resources = await collectResources();
    expect(page, 'fix it with: npm run generate').toBe(withBehaviourTable(page, resources));
    const endpoints = resources.flatMap((resource) => resource.endpoints);
    const rows = page.split('\n').filter((line) => /^\| (GET|POST|PUT|DELETE) /.test(line));
    const cells = rows.map((row) => row.slice(2, -2).split(' | '));
    expect(cells.map((row) => row.length)).toEqual(endpoints.map(() => 5));
    const column = (at: number): unknown[] => cells.map((row) => row[at]);
    expect(column(0)).toEqual(endpoints.map(({ method, path }) => `${method} ${path}`));
    expect(column(2)).toEqual(endpoints.map(({ basis }) => (basis === 'document' ? 'yes' : 'no')));
    expect(column(4)).toEqual(endpoints.map(({ missing = '–' }) => missing));
    expect(endpoints.filter(({ missing }) => missing !== undefined).length).toBeGreaterThan(20);
  });

  it('shows fixtures that can be loaded', async () => {
    const file = join(await scratch(), 'fixtures.yaml');
    await writeFile(file, /```yaml\n([\s\S]*?)```/.exec(page)![1]!);
    const service = new Bench(await startService({ data: 'memory', fixtures: file }));
    onTestFinished(() => service.close());
    const key = '0123456789abcdef0123456789abcdef01234567';
    expect((await service.call('GET', '/profile', { key })).body.data).toMatchObject({ email: 'ann@acme.test' });
  });

  it('lists every error code', () => {
    for (const code of Object.keys(errorStatuses)) expect(page).toContain(code);
  });
});

describe('docs/service-control.md', async () => {
  const control = await readFile(join(import.meta.dirname, '../../docs/service-control.md'), 'utf8');

  it('lists exactly what the control interface can do', async () => {
    const declared = (await collectControls()).map(({ method, path, summary }) => `| ${method} ${path} | ${summary} |`);
    const listed = control.split('\n').filter((line) => /^\| (GET|POST|PUT|DELETE) /.test(line));
    expect(listed.toSorted()).toEqual(declared.toSorted());
  });

  it('lists every field of a fault rule and of a request log entry', async () => {
    const given = await bench({ control: {} });
    await given.call('GET', '/profile');
    const { requests } = (await given.control('GET', '/requests')).data as { requests: object[] };
    for (const name of [...Object.keys(ruleFields), ...Object.keys(requests[0]!), ...resets]) {
      expect([name, new RegExp(`\\b${name}\\b`).test(control)]).toEqual([name, true]);
    }
  });
});
