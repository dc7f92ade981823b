import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, type Dispatcher, request as send } from 'undici';
import { expect } from 'vitest';
import type { Pull } from '../../../src/service/refresh/pull.ts';
import { type RunningService, startService } from '../../../src/service/service.ts';
import { SteppingClock } from '../../clocks.ts';
import { answerFaults } from '../answers.ts';
import type { Envelope } from '../service.ts';
import type { Dice } from './dice.ts';
import { Known } from './known.ts';
import { Leaks } from './leaks.ts';
import { type Operation, operationsOf } from './operations.ts';
import { type Caller, type Family, familyOf, fixturesOf, idOf } from './people.ts';
import { perform, type Request } from './requests.ts';

export const acme = familyOf('acme');
export const rival = familyOf('rival');
const families = [acme, rival];

/** Immediately returns a document for every refresh. */
const pull: Pull = async function* ({ format }) {
  yield Buffer.from({ json: '[1]', csv: 'a\n1\n', xml: '<a/>' }[format]);
};

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A service with two companies that make calls, and what its responses have revealed. */
export class World {
  readonly operations: readonly Operation[];
  /** Every kind of asset that a path can name. */
  readonly places: ReadonlySet<string>;
  readonly accounts = families.flatMap((family) => family.accounts);
  /** Collects requests and responses for failure reports. */
  readonly said: string[];
  readonly #service: RunningService;
  readonly #origin: string;
  readonly #clock: SteppingClock;
  readonly #agent = new Agent({ pipelining: 1 });
  readonly #known: ReadonlyMap<string, Known>;
  readonly #leaks = new Leaks(families);
  #made = 0;

  private constructor(service: RunningService, clock: SteppingClock, operations: readonly Operation[], said: string[]) {
    this.said = said;
    this.#service = service;
    this.#origin = new URL(service.url).origin;
    this.#clock = clock;
    this.operations = operations;
    this.places = new Set(operations.flatMap(({ places }) => places));
    const known = families.flatMap(({ accounts, keeper }) =>
      accounts.map((account) => [account, new Known(this.places, idOf(keeper.name))] as const),
    );
    this.#known = new Map(known);
  }

  /** A new service in which both companies, and a client of each, have assets of every kind. */
  static async start(said: string[]): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-fuzz-'));
    const fixtures = join(folder, 'fixtures.json');
    const clock = new SteppingClock('2026-03-04T12:00:00Z');
    await writeFile(fixtures, JSON.stringify(fixturesOf(families)));
    const service = await startService({ data: 'memory', limits: false, fixtures, clock, pull, tickMs: 3_600_000 });
    await rm(folder, { recursive: true, force: true });
    const world = new World(service, clock, await operationsOf(new URL(service.url).origin), said);
    for (const family of families) {
      for (const account of family.accounts.slice(0, 2)) await world.#stock(family, account);
    }
    return world;
  }

  async stop(): Promise<void> {
    await this.#agent.destroy();
    await this.#service.close();
  }

  next(): number {
    return ++this.#made;
  }

  known(account: string): Known {
    return this.#known.get(account)!;
  }

  /**
   * An ID of another account; if a place is given, an ID of that kind. Half of all IDs are never sent by callers who
   * shouldn't know them: if a response contains one of these, the service leaked it.
   */
  strangeId(dice: Dice, account: string, place?: string): string {
    const family = families.find(({ accounts }) => !accounts.includes(account))!;
    const others = this.accounts.filter((one) => one !== account);
    const other = dice.pick(dice.percent(70) ? family.accounts.slice(0, 2) : others)!;
    const things = place === undefined ? this.known(other).all() : this.known(other).of(place);
    const ids = things.flatMap(({ ids: all }) => all).filter((id) => /[02468ace]$/.test(id));
    const keepers = families.map(({ keeper }) => idOf(keeper.name));
    return dice.percent(5) ? dice.pick(keepers)! : (dice.pick(ids) ?? idOf('nothing'));
  }

  /** Sends a request and checks what must be true of every response. Returns its status. */
  async ask(request: Request): Promise<number> {
    const { caller, method, url, body } = request;
    const line = `${caller.name}: ${method} ${url} ${String(body ?? '').slice(0, 2_000)}`;
    this.said.push(line);
    this.#leaks.sent(caller, `${url} ${String(body)}`);
    const { type, ...answer } = await this.read(request);
    this.said[this.said.length - 1] = `${line}\n  → ${answer.status} ${answer.text.slice(0, 500)}`;
    const faults = [
      ...answerFaults({ method, path: url, ...answer }),
      ...envelopeFaults(answer, type),
      ...this.#leaks.in(caller, answer.text),
    ];
    expect(faults, line).toEqual([]);
    if (answer.status < 300 && answer.text.startsWith('{"meta"')) this.#learn(request, answer.text);
    return answer.status;
  }

  /** What a response contains that the caller must not see. */
  leaksIn(caller: Caller, texts: Iterable<string>): string[] {
    return [...texts].flatMap((text) => this.#leaks.in(caller, text));
  }

  /** The same, without checking the response. */
  async read({ caller, method, url, body, headers }: Omit<Request, 'operation' | 'account' | 'path'>) {
    this.#clock.advance(1);
    const answer = await send(this.#origin + url, {
      dispatcher: this.#agent,
      method: method as Dispatcher.HttpMethod,
      headers: { ...headers, ...(caller.key === null ? {} : { 'kf-api-key': caller.key }) },
      body,
    });
    return {
      status: answer.statusCode,
      text: await answer.body.text(),
      type: String(answer.headers['content-type']),
    };
  }

  #learn({ caller, account, method, path }: Request, text: string): void {
    this.known(account).learn(method, path, JSON.parse(text) as Envelope);
    this.#leaks.answered(caller, text);
  }

  /** Reads an account's lists, then calls every operation that creates something, once. */
  async #stock(family: Family, account: string): Promise<void> {
    const depth = ({ params, method }: Operation): number => params.length + (method === 'PUT' ? 1 : 0);
    const lists = this.operations.filter(({ method, params }) => method === 'GET' && params.length === 0);
    const makers = this.operations.filter(({ method, path }) => /POST|PUT/.test(method) && !path.includes('@'));
    const ordered = makers.toSorted((a, b) => depth(a) - depth(b));
    for (const operation of [...lists, ...ordered]) {
      for (const attempt of [0, 1, 2, 3, 4, 5]) {
        const numbers = Array.from({ length: 30 }, (_none, at) => (attempt * (at + 3) * 7919) % 89);
        const given = { world: this, family, caller: family.keeper, operation, text: '', account };
        if ((await perform(given, numbers, true)) < 300) break;
      }
    }
  }
}

function envelopeFaults({ status, text }: Answer, type: string): string[] {
  const wrong = text.startsWith('{"meta"') && type !== 'application/json; charset=utf-8' ? [`its type is ${type}`] : [];
  return status >= 500 ? [...wrong, `its status is ${status}`] : wrong;
}
