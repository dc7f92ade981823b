import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import file from '../../../connectors/file/index.ts';
import { loginOf } from '../../../src/daemon/login-holds/account.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { defineConnector } from '../../../src/sdk/connector.ts';
import { logInBy } from '../../../src/sdk/log-in.ts';
import { useDatabase } from '../../../src/state/engine/database.ts';
import { openStore } from '../../../src/state/store.ts';
import { makeFolder } from '../../journey/process.ts';
import { Bank, gateOf, open } from '../bank.ts';
import { clockAtHalfPast } from '../rig.ts';

const hour = 3_600_000;
const onHold = { code: 'LOGIN_ON_HOLD', family: 'login' };

async function setUp() {
  const [folder, clock] = [await makeFolder(), clockAtHalfPast()];
  const store = await openStore(folder, { clock });
  const bank = new Bank(clock);
  const began = clock.now();
  return {
    ...{ folder, clock, store, bank, gate: gateOf({ store, clock }) },
    /** The hours after the start at which a login was refused. */
    hours: () => bank.refused.map((at) => Math.floor((at - began) / hour)),
  };
}

describe('a refused login', () => {
  it('is sent once, again after waits of 1 hour and 4 hours, and then once a day, regardless of requests in between', async () => {
    const { clock, store, bank, gate, hours } = await setUp();
    for (let quarter = 0; quarter < 4 * 24 * 4; quarter++) {
      expect(await open(gate, bank.source('wrong'))).toBeInstanceOf(Problem);
      expect(await open(gateOf({ store, clock }), bank.source('wrong', { name: 'twin' }))).toMatchObject(onHold);
      clock.wall += hour / 4;
    }
    expect(hours()).toEqual([0, 1, 5, 29, 53, 77]);
    await store.close();
  });

  it('is sent by only one of many concurrent runs, and by all of them once it has succeeded', async () => {
    const { store, bank, gate, clock } = await setUp();
    const all = (password: string) => Promise.all(Array.from({ length: 10 }, () => open(gate, bank.source(password))));
    const refused = await all('wrong');
    expect(refused.map((one) => (one as Problem).code).toSorted()).toEqual([
      'BANK_REFUSED',
      ...Array.from({ length: 9 }, () => 'LOGIN_ON_HOLD'),
    ]);
    expect(bank.attempts).toBe(1);
    expect(new Set(await all('right'))).toEqual(new Set(['open']));
    clock.wall += hour;
    const again = await all('wrong');
    expect(again.filter((one) => (one as Problem).code === 'BANK_REFUSED')).toHaveLength(1);
    expect(bank.refused).toHaveLength(2);
    await store.close();
  });

  it("isn't serialized if the first attempt finds the server unavailable", async () => {
    const { store, gate } = await setUp();
    const together = Promise.withResolvers<void>();
    let [attempts, waiting] = [0, 0];
    const connector = defineConnector({
      ...{ id: 'slow', title: 'Slow', summary: 'Made by a test.', source: {}, query: {} },
      account: () => ({ place: 'slow:1', secret: '' }),
      check: (context) =>
        logInBy(context, async () => {
          attempts += 1;
          if (attempts > 1 && ++waiting === 4) together.resolve();
          if (attempts > 1) await together.promise;
          throw new Problem({ code: 'SLOW_AWAY', family: 'try_later', message: 'no response in time' });
        }),
      extract: () => Promise.reject(new Error('not here')),
    });
    const source = { name: 'slow', connector, options: {} };
    const answers = await Promise.all(Array.from({ length: 5 }, () => open(gate, source)));
    expect(answers.map((one) => (one as Problem).code)).toEqual(Array.from({ length: 5 }, () => 'SLOW_AWAY'));
    await store.close();
  });

  it('is put on hold only for its own account and secret', async () => {
    const { store, bank, gate } = await setUp();
    await open(gate, bank.source('wrong'));
    expect(await open(gate, bank.source('wrong'))).toMatchObject(onHold);
    expect(await open(gate, bank.source('right', {}, 'other'))).toBe('open');
    expect(await open(gate, bank.source('right'))).toBe('open');
    expect(await open(gate, bank.source('wrong'))).toMatchObject(onHold);
    expect(bank.refused).toHaveLength(1);
    await store.close();
  });

  it("is reported with the server, the user, the server's message and what to do", async () => {
    const { store, bank, gate } = await setUp();
    await open(gate, bank.source('wrong'));
    expect(await open(gate, bank.source('wrong'))).toMatchObject({
      message: expect.stringContaining('Login refused at bank:1 as etl'),
      seen: 'BANK_REFUSED: password authentication failed',
      allowed: expect.stringContaining('next attempt at '),
      next: expect.stringContaining('sluice sources resume bank'),
    });
    await store.close();
  });

  it('stays on hold after a restart, and nothing in the state reveals the secret', async () => {
    const { folder, clock, store, bank, gate } = await setUp();
    await open(gate, bank.source('wrong'));
    await store.close();
    const reopened = await openStore(folder, { clock });
    expect(await open(gateOf({ store: reopened, clock }), bank.source('wrong'))).toMatchObject(onHold);
    const [row] = await reopened.loginHolds.all();
    expect(JSON.stringify(row)).not.toContain('wrong');
    expect(bank.attempts).toBe(1);
    await reopened.close();
  });

  it('counts a due attempt as made even if the process dies during it', async () => {
    const { clock, store, bank, gate, hours } = await setUp();
    await open(gate, bank.source('wrong'));
    clock.wall += hour;
    const source = bank.source('wrong');
    const hold = await gate.find(source);
    expect(await gate.claim(source, hold!)).toBe(true);
    // Nothing more happens: killed.
    const next = gateOf({ store, clock });
    expect(await open(next, source)).toMatchObject(onHold);
    expect(await gate.claim(source, hold!)).toBe(false);
    clock.wall += 4 * hour;
    expect(await open(next, source)).toMatchObject({ code: 'BANK_REFUSED' });
    expect(hours()).toEqual([0, 5]);
    await store.close();
  });

  it('is retried by one of the waiting runs, or by the next one if that run ends before it logs in', async () => {
    const { clock, store, bank, gate, hours } = await setUp();
    const source = bank.source('wrong');
    const ends = async () => {
      const begun = await gate.begin(source);
      return 'end' in begun ? begun.end : undefined;
    };
    await (await ends())!();
    await open(gate, source);
    expect(await ends(), 'on hold').toBeUndefined();
    clock.wall += hour;
    const end = await ends();
    expect(await ends(), 'another run has the attempt').toBeUndefined();
    await end!();
    expect(await ends()).toBeUndefined();
    clock.wall += hour / 12;
    const next = await ends();
    expect(await open(gate, source)).toMatchObject({ code: 'BANK_REFUSED' });
    await next!();
    clock.wall += hour;
    expect(await ends(), 'the attempt was made').toBeUndefined();
    clock.wall += 3 * hour;
    expect(await ends()).toBeDefined();
    expect(hours()).toEqual([0, 1]);
    await store.close();
  });

  it('is retried soon if the attempt finds the server unavailable', async () => {
    const { clock, store, bank, gate, hours } = await setUp();
    await open(gate, bank.source('wrong'));
    clock.wall += hour;
    bank.isAway = true;
    expect(await open(gate, bank.source('wrong'))).toMatchObject({ code: 'BANK_AWAY' });
    expect(await open(gate, bank.source('wrong'))).toMatchObject(onHold);
    bank.isAway = false;
    clock.wall += 5 * 60_000;
    expect(await open(gate, bank.source('wrong'))).toMatchObject({ code: 'BANK_REFUSED' });
    expect(hours()).toEqual([0, 1]);
    await store.close();
  });

  it('is released as soon as an attempt succeeds', async () => {
    const { clock, store, bank, gate } = await setUp();
    await open(gate, bank.source('new'));
    bank.passwords.set('etl', 'new');
    expect(await open(gate, bank.source('new'))).toMatchObject(onHold);
    clock.wall += hour;
    expect(await open(gate, bank.source('new'))).toBe('open');
    expect(await store.loginHolds.all()).toEqual([]);
    await store.close();
  });

  it('waits for a user with `login_retry: off`', async () => {
    const { clock, store, bank, gate } = await setUp();
    const source = bank.source('new', { loginRetry: 'off' });
    await open(gate, source);
    clock.wall += 1000 * hour;
    expect(await open(gate, source)).toMatchObject({ ...onHold, allowed: 'not retried automatically' });
    bank.passwords.set('etl', 'new');
    expect(await open(gate, source, { isPerson: true })).toBe('open');
    expect(await open(gate, source)).toBe('open');
    await store.close();
  });

  it('can be retried by a user at any time, which counts as an attempt', async () => {
    const { store, bank, gate, hours } = await setUp();
    await open(gate, bank.source('wrong'));
    expect(await open(gate, bank.source('wrong'), { isPerson: true })).toMatchObject({ code: 'BANK_REFUSED' });
    expect(await store.loginHolds.all()).toMatchObject([{ refusals: 2 }]);
    expect(hours()).toEqual([0, 0]);
    await store.close();
  });

  it('can be resumed by a user for all sources with the same account, which is recorded', async () => {
    const { store, bank, gate } = await setUp();
    await open(gate, bank.source('wrong'));
    const by = { who: 'ann', why: 'unlocked' };
    const account = { connector: 'bank', place: 'bank:1', account: 'etl' };
    expect(await store.loginHolds.resume(account, { by, source: 'bank' })).toBe(true);
    expect(await store.loginHolds.resume(account, { by, source: 'bank' })).toBe(false);
    expect(await open(gate, bank.source('wrong'))).toMatchObject({ code: 'BANK_REFUSED' });
    expect(await store.audit.history({ limit: 9 })).toMatchObject([
      { who: 'ann', action: 'resume', job: 'source bank' },
    ]);
    await store.close();
  });

  it("is reported even while the state isn't writable, and is recorded once the state is", async () => {
    const { folder, store, bank, gate } = await setUp();
    const { db, close } = useDatabase(join(folder, 'sluice.db'));
    await sql.raw('pragma query_only = 1').execute(db);
    expect(await open(gate, bank.source('wrong'))).toMatchObject({ code: 'BANK_REFUSED' });
    expect(await store.loginHolds.all()).toEqual([]);
    await sql.raw('pragma query_only = 0').execute(db);
    await expect.poll(() => store.loginHolds.all()).toHaveLength(1);
    expect(await open(gate, bank.source('wrong'))).toMatchObject(onHold);
    await close();
    await store.close();
  });

  it('is compared with the current content of its secret file', async () => {
    const { store, bank, gate } = await setUp();
    const source = bank.source('wrong', {
      renew: async ({ options }) => void Object.assign(options, { password: 'right' }),
    });
    expect(await open(gate, bank.source('wrong'))).toMatchObject({ code: 'BANK_REFUSED' });
    expect(await open(gate, source)).toBe('open');
    expect(bank.attempts).toBe(2);
    await store.close();
  });
});

it('no hold is looked up for a file source, because it has no login', () => {
  expect(loginOf({ name: 'files', connector: file, options: {} })).toBeUndefined();
});

describe('a 401 for a credential that is sent with each request', () => {
  const api = (path: { now: string | undefined }) =>
    defineConnector({
      ...{ id: 'api', title: 'API', summary: 'Made by a test.', source: {}, query: {} },
      check: async () => {
        if (path.now === undefined) return 'fine';
        throw new Problem({ code: 'REST_LOGIN', family: 'login', message: 'refuses', refusedPath: path.now });
      },
      extract: () => Promise.reject(new Error('not here')),
    });

  async function asked(paths: readonly (string | undefined)[]): Promise<string[]> {
    const { store, gate } = await setUp();
    const path = { now: paths[0] };
    const source = { name: 'api', connector: api(path), options: { url: 'https://api.example/v1' } };
    const codes: string[] = [];
    for (const one of paths) {
      path.now = one;
      const answer = await open(gate, source);
      codes.push(answer === 'open' ? answer : answer.code);
    }
    await store.close();
    return codes;
  }

  it('puts the login on hold once a second path returns it', async () => {
    expect(await asked(['/a', '/b', '/c'])).toEqual(['REST_LOGIN', 'REST_LOGIN', 'LOGIN_ON_HOLD']);
  });

  it('is attributed to the path if only one path returns it, or if other paths succeed', async () => {
    expect(await asked(['/a', '/a', '/a'])).toEqual(['REST_LOGIN', 'REST_LOGIN', 'REST_LOGIN']);
    expect(await asked(['/a', undefined, '/b', undefined])).toEqual(['REST_LOGIN', 'open', 'REST_LOGIN', 'open']);
  });
});
