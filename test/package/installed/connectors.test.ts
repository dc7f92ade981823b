import { spawn } from 'node:child_process';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openCatalog } from '../../../src/config/catalog/catalog.ts';
import type { WorldLook } from './connectors-child.ts';

const child = new URL('./connectors-child.ts', import.meta.url).pathname;

describe.each(inject('nodes'))('the installed package under Node $major', ({ path: node, without = [] }) => {
  it("reads the first page with every connector, in every scenario of the connector's conformance test", async () => {
    const ids = [...(await openCatalog()).ids].filter((id) => !without.includes(id));
    const looks = await lookByChild(node, ids);
    expect(looks.filter(({ error }) => error !== undefined)).toEqual([]);
    expect([...new Set(looks.map(({ id }) => id))].sort()).toEqual(ids.sort());
  });
});

function lookByChild(node: string, ids: readonly string[]): Promise<WorldLook[]> {
  const looks: WorldLook[] = [];
  let said = '';
  const process = spawn(node, ['--disable-warning=ExperimentalWarning', child, inject('installed'), ...ids], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  onTestFinished(() => void process.kill('SIGKILL'));
  process.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
  process.on('message', (look: WorldLook) => looks.push(look));
  return new Promise((resolve, reject) => {
    process.on('error', reject);
    process.on('close', (code, signal) =>
      code === 0 ? resolve(looks) : reject(new Error(`${signal ?? code}: ${said}`)),
    );
  });
}
