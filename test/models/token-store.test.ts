import type { IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Login } from '../../src/config/config.ts';
import { authorize } from '../../src/oauth/authorize.ts';
import { LoginRegistry } from '../../src/oauth/login-registry.ts';
import type { Token } from '../../src/sdk/oauth.ts';
import type { Store } from '../../src/state/store.ts';
import { SteppingClock } from '../clocks.ts';
import { personLogin } from '../oauth/rig.ts';
import fc, { runsOf } from '../property.ts';
import { cleanUp, newFolder, newStore, Population } from '../state/fixtures.ts';
import { TokenVendor, type Weather } from './token-vendor.ts';

afterEach(cleanUp);

/**
 * Several processes that crash share a login whose refresh tokens are valid once. The vendor may be unavailable, accept
 * a token without us getting the response, or end the grant. The model has no store, only the requests to the vendor
 * and its responses.
 */

const second = 1000;
const minute = 60 * second;
/**
 * A token is handed out if it's valid for at least this long, and renewed otherwise. While the vendor is unavailable,
 * less is accepted.
 */
const fresh = 5 * minute;
/** After a failure, the vendor gets no requests for this long. */
const rest = 15 * second;

interface Model {
  /** A user has consented, and the vendor has not yet reported the end of the grant. */
  agreed: boolean;
  /** The vendor has used up the stored token, and its response with a new one was lost. */
  lost: boolean;
  /** The last request got no conclusive response. */
  unheard: boolean;
}

interface Member {
  readonly name: string;
  readonly store: Store;
  readonly book: LoginRegistry;
  readonly entry: NonNullable<ReturnType<LoginRegistry['entry']>>;
  readonly login: Login;
  /** The token that it got last. */
  token: Token | undefined;
  /** Monotonic time until which the process sends the vendor nothing. */
  restsUntil: number;
  /** Tokens that the process was told not to use any more. */
  readonly refused: Set<string>;
}

interface Real {
  readonly clock: SteppingClock;
  readonly vendor: TokenVendor;
  readonly forgives: boolean;
  readonly people: Population;
  readonly members: Member[];
  readonly hung: Promise<unknown>[];
  /** The clock is never set: issued tokens are valid for their stated time. */
  readonly isTrue: boolean;
  open(): Promise<Member>;
}

type Command = fc.AsyncCommand<Model, Real>;

const memberOf = ({ members }: Real, which: number): Member => members[which % members.length]!;

/** Some of the processes request tokens concurrently, each this many times. */
class Ask implements Command {
  readonly #which: readonly number[];

  constructor(which: readonly number[]) {
    this.#which = which;
  }

  check = () => true;
  toString = () => `ask(${this.#which})`;

  async run(model: Model, real: Real): Promise<void> {
    const { vendor, clock } = real;
    const before = { asked: vendor.asked, refused: vendor.refused, present: vendor.present };
    const rests = new Set(this.#which.map((one) => memberOf(real, one)).filter((one) => one.restsUntil > clock.ticks));
    const asking = this.#which.map((one) => memberOf(real, one));
    const asks = await Promise.allSettled(asking.map(({ entry }) => entry.tokenManager.token()));
    const [asked, refused] = [vendor.asked - before.asked, vendor.refused - before.refused];
    const wasLost = model.lost;
    if (asked > refused) model.unheard = vendor.weather !== 'well';
    if (vendor.present !== before.present) model.lost = vendor.weather === 'unanswered';
    const isOver = vendor.ended || model.lost || wasLost;
    if (refused > 0) expect(isOver, 'a grant ends only by a lost response or by the vendor').toBe(true);
    // Each process finds out by itself that the vendor doesn't respond. If one gets a response, the others use its
    // token.
    const most = vendor.weather === 'well' ? 1 : new Set(asking).size;
    expect(asked - refused, 'one process asks for all').toBeLessThanOrEqual(most);
    for (const [i, settled] of asks.entries()) {
      if (settled.status === 'fulfilled') this.#good(settled.value, asking[i]!, real);
      else this.#bad(settled.reason, { member: asking[i]!, isResting: rests.has(asking[i]!), model, real });
    }
    if (refused > 0) model.agreed = false;
    if (vendor.present !== before.present && !model.lost) await expectKept(real);
  }

  #good(token: Token, member: Member, { vendor, clock, isTrue }: Real): void {
    member.token = token;
    expect(member.refused, 'not a token that the vendor has refused').not.toContain(token.access_token);
    const until = vendor.good.get(token.access_token);
    // Each process must learn separately which tokens the vendor revoked early.
    if (until === undefined || !isTrue) return;
    const isRenewed = vendor.weather === 'well' && member.restsUntil <= clock.ticks && !vendor.ended;
    expect(until - clock.ticks, 'it is valid for a while').toBeGreaterThan(isRenewed ? fresh - minute : 0);
  }

  #bad(thrown: unknown, given: { member: Member; isResting: boolean; model: Model; real: Real }): void {
    const { isResting, model, real } = given;
    const { code, family } = thrown as { code: string; family: string };
    if (family === 'try_later') {
      expect(code).toBe('LOGIN_UNREACHABLE');
      expect(real.vendor.weather !== 'well' || isResting, 'the vendor was asked if possible').toBe(true);
      return;
    }
    expect(family).toBe('login');
    if (code === 'LOGIN_LOST') expect(model.lost || model.unheard, code).toBe(true);
    else if (code === 'LOGIN_ENDED') expect(real.vendor.ended, code).toBe(true);
    else expect([code, model.agreed && !model.lost && !real.vendor.ended]).toEqual(['LOGIN_NEEDED', false]);
  }
}

/** The token that any process finds on disk is one that the vendor accepts. */
async function expectKept({ members, vendor }: Real): Promise<void> {
  const kept = await members[0]!.entry.tokenStore.load();
  expect(kept?.granted.refreshToken, 'the token that the vendor accepts is on disk').toBe(vendor.present);
}

/** A process sends a request, which the vendor executes, and dies before it gets the response. */
class DieAsking implements Command {
  readonly #which: number;

  constructor(which: number) {
    this.#which = which;
  }

  check = ({ agreed, lost }: Readonly<Model>) => agreed && !lost;
  toString = () => `dieAsking(${this.#which})`;

  async run(model: Model, real: Real): Promise<void> {
    const { vendor, people, hung } = real;
    const at = this.#which % real.members.length;
    const member = real.members[at]!;
    const { asked } = vendor;
    const reached = Promise.withResolvers<IncomingMessage>();
    vendor.hold = reached.resolve;
    const asking = member.entry.tokenManager.token().catch(() => undefined);
    const request = await Promise.race([reached.promise, asking]);
    vendor.hold = undefined;
    people.dead.add(member.name);
    real.members[at] = await real.open();
    model.unheard ||= vendor.asked > asked;
    if (request === undefined || !('socket' in request)) return;
    model.lost = true;
    hung.push(asking);
    request.socket.destroy();
    await asking;
  }
}

class Crash implements Command {
  readonly #which: number;

  constructor(which: number) {
    this.#which = which;
  }

  check = () => true;
  toString = () => `crash(${this.#which})`;

  async run(_: Model, real: Real): Promise<void> {
    const at = this.#which % real.members.length;
    real.people.dead.add(real.members[at]!.name);
    real.members[at] = await real.open();
  }
}

/** A request with the token got a 401. */
class Refuse implements Command {
  readonly #which: number;

  constructor(which: number) {
    this.#which = which;
  }

  check = () => true;
  toString = () => `refuse(${this.#which})`;

  async run(_: Model, real: Real): Promise<void> {
    const member = memberOf(real, this.#which);
    if (member.token === undefined) return;
    real.vendor.good.delete(member.token.access_token);
    for (const one of real.members) {
      if (one.token?.access_token !== member.token.access_token) continue;
      await one.entry.tokenManager.refused(one.token);
      one.refused.add(one.token.access_token);
    }
  }
}

class Agree implements Command {
  check = () => true;
  toString = () => 'agree()';

  async run(model: Model, { members, vendor, clock }: Real): Promise<void> {
    const { entry, store, login } = members[0]!;
    const ask = async () => ({ ...vendor.grant(), askedAt: clock.now(), lifetimeMs: 60 * minute, kept: {} });
    await authorize(entry, { login, store, ask });
    Object.assign(model, { agreed: true, lost: false, unheard: false });
  }
}

class Change implements Command {
  readonly #weather: Weather | 'ended';

  constructor(weather: Weather | 'ended') {
    this.#weather = weather;
  }

  check = () => true;
  toString = () => `weather(${this.#weather})`;

  async run(_: Model, { vendor }: Real): Promise<void> {
    if (this.#weather === 'ended') vendor.ended = true;
    else vendor.weather = this.#weather;
  }
}

class Pass implements Command {
  readonly #by: number;
  readonly #jump: number;

  constructor(by: number, jump = 0) {
    this.#by = by;
    this.#jump = jump;
  }

  check = () => true;
  toString = () => `pass(${this.#by}, ${this.#jump})`;

  async run(_: Model, { clock }: Real): Promise<void> {
    clock.advance(this.#by);
    clock.wall += this.#jump;
  }
}

const which = fc.nat(5);
const calm = [
  fc.array(which, { minLength: 1, maxLength: 4 }).map((some) => new Ask(some)),
  fc.array(which, { minLength: 1, maxLength: 4 }).map((some) => new Ask(some)),
  which.map((one) => new DieAsking(one)),
  which.map((one) => new Crash(one)),
  which.map((one) => new Refuse(one)),
  fc.constantFrom('well', 'well', 'away', 'unread', 'unanswered').map((weather) => new Change(weather as Weather)),
  fc.constant(new Change('ended')),
  fc.constant(new Agree()),
  fc.oneof(fc.nat(20 * second), fc.nat(70 * minute)).map((by) => new Pass(by)),
];

/** Three processes share one state after a user has consented. At the end, everything that was started is finished. */
async function play(forgives: boolean, isTrue: boolean, commands: Iterable<Command>): Promise<void> {
  const clock = new SteppingClock();
  const [folder, people, vendor] = [newFolder(), new Population(), new TokenVendor(clock, forgives)];
  const login = personLogin({ description: await vendor.open() });
  const books: LoginRegistry[] = [];
  const open = async (): Promise<Member> => {
    const name = `process-${books.length}`;
    const store = await newStore({ clock, folder, processes: people.member(name) });
    const emit = (...[event]: readonly [string, object]) => {
      if (event === 'token.failed') member.restsUntil = clock.ticks + rest;
    };
    const book = new LoginRegistry({ store, clock, folder, emit });
    books.push(book);
    const entry = book.entry({ name: login.name, login })!;
    const member: Member = { name, store, book, entry, login, token: undefined, restsUntil: 0, refused: new Set() };
    return member;
  };
  const members = [await open(), await open(), await open()];
  const real: Real = { clock, vendor, forgives, people, members, hung: [], isTrue, open };
  const model: Model = { agreed: false, lost: false, unheard: false };
  try {
    await new Agree().run(model, real);
    await fc.asyncModelRun(() => ({ model, real }), commands);
  } finally {
    for (const book of books) await book.close();
    vendor.close();
    await cleanUp();
  }
}

describe('a login with single-use refresh tokens', () => {
  it.each([
    { vendor: 'accepts no token twice', forgives: false },
    { vendor: 'tolerates a lost response', forgives: true },
  ])(
    'is never lost by Sluice if the vendor $vendor, and is renewed only once for all processes',
    async ({ forgives }) => {
      await fc.assert(
        fc.asyncProperty(fc.commands(calm, { maxCommands: 40, size: 'max' }), (commands) =>
          play(forgives, true, commands),
        ),
        { numRuns: runsOf(20) },
      );
    },
  );

  it('is never lost by Sluice, even if the clock is changed', async () => {
    const wild = [
      ...calm,
      fc.integer({ min: -30 * 60 * minute, max: 30 * 60 * minute }).map((jump) => new Pass(0, jump)),
    ];
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.commands(wild, { maxCommands: 40, size: 'max' }), (forgives, commands) =>
        play(forgives, false, commands),
      ),
      { numRuns: runsOf(20) },
    );
  });
});
