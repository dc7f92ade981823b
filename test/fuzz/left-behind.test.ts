import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { protocols } from './protocols.ts';

/** `npm run test:fuzz` breaks more. */
const connections = Number(process.env.SLUICE_FUZZ_CONNECTIONS ?? 60);
const child = new URL('./left-child.ts', import.meta.url).pathname;

interface Left {
  readonly resources: Readonly<Record<string, number>>;
  readonly listeners: number;
}

const names = Object.keys(protocols).filter((name) => !protocols[name]!.isNeverSilent);

it.each(names)(`${connections} broken %s connections leave no socket, timer or listener behind`, async (name) => {
  const { stdout } = await promisify(execFile)(process.execPath, [child, name, String(connections)]);
  const { before, after } = JSON.parse(stdout) as { before: Left; after: Left };
  const more = Object.entries(after.resources).filter(([kind, some]) => some > (before.resources[kind] ?? 0));
  expect(more).toEqual([]);
  expect(after.listeners).toBe(0);
});
