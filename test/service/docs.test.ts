import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectResources } from '../../src/service/collect.ts';
import { refusals } from '../../src/service/http/refusal.ts';
import { withBehaviourTable } from '../../src/service/openapi/behaviour-table.ts';
import { startService } from '../../src/service/service.ts';
import { Bench, scratch } from './service.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/service.md'), 'utf8');

describe('docs/service.md', () => {
  it('has a row for each endpoint as it is declared: who may call it, what is decided here and what is not there', async () => {
    const resources = await collectResources();
    expect(page, 'mend it with: npm run generate').toBe(withBehaviourTable(page, resources));
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
