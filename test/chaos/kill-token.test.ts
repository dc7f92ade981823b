import { beforeAll, describe, expect, it } from 'vitest';
import { type Home, makeHome } from '../journey/home.ts';
import { forTest, type Scope } from '../journey/process.ts';
import { adminKey, forSuite, makeWorld, until, type World } from '../journey/world.ts';
import { agree } from '../oauth/person.ts';
import { client, startVendor, type Vendor } from '../oauth/vendor.ts';
import { freePort } from '../servers/free-port.ts';
import { handOf, seeds } from './seeds.ts';
import { dieAt, stepsOf } from './stage.ts';

const connectors = new URL('../oauth/connectors/', import.meta.url).pathname;
const lifeSeconds = 60;
const scope = forSuite();
let world: World;
let steps: readonly string[];

interface Place {
  readonly home: Home;
  readonly vendor: Vendor;
  readonly instance: string;
  /** Makes the stored token look expired to processes that start after this. */
  expire(): void;
  /** How to start a process: at the current time, or to be killed before a step. */
  how(step: string): ReturnType<typeof dieAt>;
}

/** A user with a login at a vendor whose refresh tokens are valid for one use. */
async function makePlace(own: Scope): Promise<Place> {
  const redirect = `http://127.0.0.1:${await freePort()}/callback`;
  const vendor = await startVendor({ redirects: [redirect], accessTtl: lifeSeconds });
  own(() => vendor.close());
  const [home, instance] = [await makeHome(own), await world.instance('csv')];
  const login = { client_id: client.id, client_secret: client.secret, redirect_uri: redirect };
  await home.config({
    connectors,
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { acme: { connector: 'acme', url: vendor.url, login } },
    jobs: { rows: { source: 'acme', format: 'csv', target: instance, always: true } },
  });
  let shift = 0;
  const place: Place = {
    home,
    vendor,
    instance,
    expire: () => {
      shift += lifeSeconds * 1000;
    },
    how: (step) => {
      const { preload, env } = dieAt(place, step);
      return { preload: ['shifted-clock', ...preload!], env: { ...env, CLOCK_SHIFT_MS: String(shift) } };
    },
  };
  await logIn(place);
  return place;
}

async function logIn({ home, how }: Place): Promise<void> {
  const login = home.start(['login', 'acme', '--no-browser'], how(''));
  await until('the login URL to be printed', () => /^ {2}http/m.test(login.output()));
  const url = /^ {2}(http\S+)/m.exec(login.output())![1]!;
  await (await fetch(await agree(url, new URL(url).searchParams.get('redirect_uri')!))).text();
  expect(await login.ended).toMatchObject({ code: 0 });
}

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000, requests_per_day: 100_000 } });
  const place = await makePlace(scope);
  place.expire();
  const before = (await stepsOf(place)).length;
  expect((await place.home.sync(place.how(''))).code).toBe(0);
  const all = (await stepsOf(place)).slice(before);
  const asked = all.indexOf('say token.asked #1');
  const kept = all.indexOf('say token.stored #1');
  steps = all.slice(asked - 2, kept + 2);
});

describe('a token renewal, killed before each durable step,', () => {
  it.for(seeds)(
    "keeps the login; a user must log in again only if the vendor's response was lost (seed %i)",
    async (seed) => {
      const place = await makePlace(forTest);
      const { home, vendor } = place;
      for (const step of handOf(seed, steps)) {
        place.expire();
        const answered = vendor.asked.length;
        expect(await home.sync(place.how(step)), step).toMatchObject({ signal: 'SIGKILL' });
        const isLost = vendor.asked.length > answered && steps.indexOf(step) < steps.indexOf('say token.stored #1');
        const next = await home.sync(place.how(''));
        if (isLost && next.code !== 0) {
          expect(next).toMatchObject({ code: 1, jobs: [{ state: 'failed', problem: { code: 'LOGIN_LOST' } }] });
          await logIn(place);
          expect(await home.sync(place.how('')), 'a person has logged in again').toMatchObject({ code: 0 });
        } else {
          expect(next, step).toMatchObject({ code: 0, jobs: [{ state: 'delivered', rows: 2 }] });
        }
        expect(await world.data(place.instance)).toMatch(/^id\n1\n2\n$/);
      }
    },
  );
});
