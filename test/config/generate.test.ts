import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { folderWith } from './fixtures.ts';

const script = resolve(import.meta.dirname, '../../src/cli/generate.ts');

async function generate(...flags: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, [script, ...flags], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number, out, err };
}

it('writes what is missing, is content with what is fresh, and names what is stale with the command that mends it', async () => {
  const into = await folderWith({});
  const absent = await generate('--check', '--into', into);
  expect(absent.code).toBe(1);
  expect(absent.err.match(/^(config\/sluice\.schema\.json|docs\/config\.md) .*npm run generate$/gm)).toHaveLength(2);
  expect(await readdir(into)).toEqual([]);

  expect(await generate('--into', into)).toMatchObject({ code: 0, err: '' });
  expect(await generate('--check', '--into', into)).toEqual({ code: 0, out: '', err: '' });

  await appendFile(join(into, 'docs/config.md'), 'edited by hand\n');
  const stale = await generate('--check', '--into', into);
  expect(stale).toMatchObject({
    code: 1,
    err: expect.stringContaining('docs/config.md is not what the declarations say'),
  });
  expect(stale.err).not.toContain('schema');

  await writeFile(join(into, 'docs/connectors/gone.md'), '');
  expect((await generate('--check', '--into', into)).err).toContain('docs/connectors/gone.md belongs to no connector');
});
