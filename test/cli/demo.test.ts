import { expect, it } from 'vitest';
import { forTest, start } from '../journey/process.ts';

it("the demo exits with 2 if its service can't start", async () => {
  const { code, signal, stderr } = await start(['demo'], { scope: forTest, preload: ['no-second-server'] }).ended;
  expect({ code, signal }).toEqual({ code: 2, signal: null });
  expect(stderr).toContain('SERVICE_ADDRESS');
});
