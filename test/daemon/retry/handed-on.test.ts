import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { HandedOn, openHandedOn, sealHandedOn } from '../../../src/daemon/retry/handed-on.ts';
import { EncryptionKeys } from '../../../src/oauth/keys.ts';
import { SteppingClock } from '../../clocks.ts';

const clock = new SteppingClock();
const keys = new EncryptionKeys({ current: 'k'.repeat(32), former: [] }, '/nowhere');

/** A process; `madeAt` is when a person last gave the login's grant. */
const runtimeOf = ({ madeAt = 1, own = keys } = {}) => ({
  clock,
  store: {
    logins: { find: async () => ({ made_at: madeAt }) } as never,
    attemptFiles: { folderOf: (run: string) => `/none/${run}` } as never,
  },
  loginGate: { keys: own },
});

const login = { name: 'acme', clientId: 'app', grant: 'authorization_code' };
const jobWith = (more: object = {}) =>
  ({ extract: { source: { connector: { id: 'shop' }, options: { key: 'a' }, login, ...more } } }) as unknown as Job;

/** Opens the facts for an attempt of this run: either those of the previous attempt, or none. */
async function opened(sealed: string | null, run: string, more: Partial<Parameters<typeof openHandedOn>[0]> = {}) {
  const handedOn = new HandedOn(sealed);
  const given = { runtime: runtimeOf(), job: jobWith(), attempt: { handedOn }, ...more };
  expect(await openHandedOn(given, run)).toBe(handedOn);
  return { handedOn, seal: () => sealHandedOn(given, run) };
}

/** The encrypted facts of an attempt that ordered a report. */
async function ordered(): Promise<{ sealed: string; since: number }> {
  const { handedOn, seal } = await opened(null, 'r1');
  handedOn.texts.set('order', 'report-4711');
  const { since } = handedOn;
  clock.advance(60_000);
  return { sealed: (await seal())!, since };
}

describe("the record that an attempt passes to the run's next attempt", () => {
  it("keeps its strings and the first attempt's time, and is encrypted", async () => {
    const { sealed, since } = await ordered();
    expect(sealed).not.toMatch(/report|4711|order/);
    const { handedOn, seal } = await opened(sealed, 'r1');
    expect([...handedOn.texts]).toEqual([['order', 'report-4711']]);
    expect(handedOn.since).toBe(since);
    expect((await opened(await seal(), 'r1')).handedOn.since).toBe(since);
  });

  it.each([
    ['run', {}, 'r2'],
    ['connector', { job: jobWith({ connector: { id: 'other' } }) }, 'r1'],
    ['source option', { job: jobWith({ options: { key: 'b' } }) }, 'r1'],
    ['login', { job: jobWith({ login: { ...login, clientId: 'other' } }) }, 'r1'],
    ["user's grant", { runtime: runtimeOf({ madeAt: 2 }) }, 'r1'],
    ['key', { runtime: runtimeOf({ own: new EncryptionKeys({ current: 'x'.repeat(32), former: [] }, '/') }) }, 'r1'],
  ])("isn't used with another %s, so that attempt starts from scratch", async (_, more, run) => {
    const { handedOn } = await opened((await ordered()).sealed, run, more);
    expect([...handedOn.texts]).toEqual([]);
    expect(handedOn.since).toBe(clock.now());
  });

  it("is null without strings, and isn't changed if the attempt sent no request", async () => {
    const { seal } = await opened(null, 'r1');
    expect(await seal()).toBeNull();
    const given = { runtime: runtimeOf(), job: jobWith(), attempt: { handedOn: new HandedOn('sealed before') } };
    expect(await sealHandedOn(given, 'r1')).toBe('sealed before');
  });

  it("doesn't exist for a run that isn't retried", async () => {
    const given = { runtime: runtimeOf(), job: jobWith() };
    expect(await openHandedOn(given, 'r1')).toBeUndefined();
    expect(await sealHandedOn(given, 'r1')).toBeNull();
  });
});
