import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { namePattern, nameSchema } from '../../src/config/options/names.ts';
import { folderWith } from './fixtures.ts';

const script = resolve(import.meta.dirname, '../../src/cli/generate.ts');

async function generate(...flags: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, [script, ...flags], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 200_000 });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number, out, err };
}

it('generate writes missing files, keeps up-to-date ones, and names stale ones and the command that updates them', async () => {
  const into = await folderWith({});
  const absent = await generate('--check', '--into', into);
  expect(absent.code).toBe(1);
  expect(absent.err.match(/^(config\/sluice\.schema\.json|docs\/config\.md) .*npm run generate$/gm)).toHaveLength(2);
  expect(await readdir(into)).toEqual([]);

  expect(await generate('--into', into)).toMatchObject({ code: 0, err: '' });
  expect(await generate('--check', '--into', into)).toEqual({ code: 0, out: '', err: '' });

  await appendFile(join(into, 'docs/config.md'), 'edited by hand\n');
  await writeFile(join(into, 'docs/connectors/gone.md'), '');
  const stale = await generate('--check', '--into', into);
  expect(stale).toMatchObject({
    code: 1,
    err: expect.stringContaining('docs/config.md is stale'),
  });
  expect(stale.err).toContain('docs/connectors/gone.md does not belong to any connector');
  expect(stale.err).not.toContain('schema');
});

describe("the schema's patterns", () => {
  it('work in every regular expression engine', async () => {
    const patterns = new Set<string>();
    const collect = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      const { pattern } = node as { pattern?: unknown };
      if (typeof pattern === 'string') patterns.add(pattern);
      for (const member of Object.values(node)) collect(member);
    };
    collect(JSON.parse(await readFile(join(import.meta.dirname, '../../config/sluice.schema.json'), 'utf8')));
    expect(patterns.size).toBeGreaterThan(10);
    // Unicode properties and code points, named groups, lookbehind and control escapes, which Python lacks or writes
    // differently.
    expect([...patterns].filter((pattern) => /\\[pPcuk]|\(\?</.test(pattern))).toEqual([]);
  });

  it('accept the names that check accepts, and reject the ASCII names that it rejects', () => {
    const portable = new RegExp(String(nameSchema.pattern));
    for (let code = 0; code < 128; code++) {
      const sign = String.fromCharCode(code);
      for (const name of [sign, `a${sign}`])
        expect([name, portable.test(name)]).toEqual([name, namePattern.test(name)]);
    }
    for (const name of ['Größe', 'заказы', '注文', '²', 'ªº', 'a'.repeat(100)])
      expect([portable.test(name), namePattern.test(name)]).toEqual([true, true]);
    for (const name of ['', 'a\u00a0b', 'a'.repeat(101)])
      expect([portable.test(name), namePattern.test(name)]).toEqual([false, false]);
  });
});
