import { Problem } from '../../lib/problem.ts';
import type { ConnectorLog } from '../connector.ts';
import type { HttpClient } from '../http/client.ts';
import type { HttpRequest } from '../http/request.ts';
import { withRetries } from '../http/retry.ts';
import type { Spool } from '../http/spool.ts';
import type { Login } from '../oauth.ts';
import type { Answer } from './answer.ts';
import { buildLink, buildRequest } from './build-request.ts';
import { Keyring } from './credentials.ts';
import type { Decoding, LoginData, RequestData, ServiceDescription } from './description.ts';
import { type Judgement, judge } from './judge.ts';
import type { Pacer } from './pacer.ts';
import { type Reply, readReply } from './reply.ts';
import type { ErrorRule } from './rules.ts';
import { answerProblem, Ignored, PlaceLost, strangeLink, tooLarge, unreadable } from './service-problems.ts';
import type { Scope } from './template.ts';

/** What one run calls a service with. */
export interface CallerInit {
  readonly service: Pick<ServiceDescription, 'title' | 'base' | 'headers' | 'query' | 'errors'>;
  readonly login: LoginData;
  /** The runner's, where the login is OAuth. */
  readonly tokens: Login | undefined;
  /** Options and `now`. */
  readonly scope: Scope;
  readonly client: HttpClient;
  readonly pacer: Pacer;
  readonly spool: Spool;
  readonly retries: number;
  readonly mostBytes: number;
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  readonly alive: () => void;
}

/** One call: what to ask for, and how its answer is meant. */
export interface Call {
  readonly request: RequestData;
  /** Instead of the request's address: where an answer says that the next page is. */
  readonly link?: URL | undefined;
  readonly scope: Scope;
  readonly decode?: Decoding | undefined;
  readonly errors?: readonly ErrorRule[] | undefined;
  /** A poll: `pending` is an answer. Everywhere else it means to ask again after a while. */
  readonly isPoll?: boolean;
}

/** A reply with what the rules say about it: `ok`, `empty` or `pending`. */
export interface Judged extends Reply {
  readonly verdict: Judgement['verdict'];
}

/** A wait longer than this is left to the next run. */
const longestPauseMs = 2 * 60_000;
/** While we wait, the runner hears from us this often. */
const signEveryMs = 10_000;

/** Makes the calls of a run: paced, logged in, repeated where that helps, and judged by the service's rules. */
export class Caller {
  readonly #init: CallerInit;
  readonly #keyring: Keyring;
  #hasTold = false;

  constructor(init: CallerInit) {
    this.#init = init;
    // Not repeated by itself: the call that needs the login is.
    const call = async (request: RequestData) => (await this.#attempt({ request, scope: init.scope }, 'bare')).answer;
    this.#keyring = new Keyring(init.login, { login: init.tokens, call });
  }

  /**
   * One call, repeated as long as the rules say so.
   * @throws Problem where an answer is no good one, {@link Ignored} and {@link PlaceLost} where the rules say that.
   */
  call(call: Call): Promise<Judged> {
    return this.#repeated(call);
  }

  /** Ends a session that was opened. */
  end(): Promise<void> {
    return this.#keyring.end();
  }

  async #repeated(call: Call): Promise<Judged> {
    const { retries, signal, log, alive } = this.#init;
    const signs = setInterval(alive, signEveryMs);
    signs.unref();
    const onPause = (problem: Problem, milliseconds: number) =>
      log.warn('asking again after a pause', { because: problem.message, pauseMs: Math.round(milliseconds) });
    try {
      return await withRetries({ retries, signal, longestPauseMs, onPause }, () => this.#attempt(call, 'known'));
    } finally {
      clearInterval(signs);
      alive();
    }
  }

  async #attempt(call: Call, as: 'known' | 'bare'): Promise<Judged> {
    const { pacer, signal, service, client } = this.#init;
    // First: it may have to log in, which is a call of its own and needs a turn of its own.
    const request = await this.#request(call, as);
    const release = await pacer.turn(signal);
    try {
      const http = await client.send(request);
      const decode = call.decode ?? 'json';
      const { spool, mostBytes } = this.#init;
      const reply = await readReply(http, {
        decode,
        spool,
        mostBytes,
        tooLarge: () => tooLarge(service.title, mostBytes),
      });
      this.#tell(pacer.learn(reply.answer));
      return await this.#judged(call, reply, as);
    } catch (error) {
      if (error !== again) throw error;
    } finally {
      release();
    }
    return this.#attempt(call, as);
  }

  /** Once a run: whoever wonders why it is slow reads it in the log. */
  #tell(low: ReturnType<Pacer['learn']>): void {
    if (low === undefined || this.#hasTold) return;
    this.#hasTold = true;
    this.#init.log.warn('the service says that little of its allowance is left: requests wait', low);
  }

  async #request({ request, link, scope }: Call, as: 'known' | 'bare'): Promise<HttpRequest> {
    const { service } = this.#init;
    if (as === 'bare') return buildRequest(request, service, scope, { headers: {}, query: [] });
    if (request.bare === true) return buildRequest(request, { base: '' }, scope, { headers: {}, query: [] });
    const full = { ...scope, login: await this.#keyring.facts() };
    const credentials = this.#keyring.credentials(full);
    const built = buildRequest(request, service, full, credentials);
    if (link === undefined) return built;
    if (link.origin !== built.url.origin) throw strangeLink(service.title, link, built.url);
    return buildLink(link, service, request, { scope: full, credentials });
  }

  async #judged(call: Call, reply: Reply, as: 'known' | 'bare'): Promise<Judged> {
    const { service } = this.#init;
    const { answer, fault } = reply;
    const judgement = judge(answer, [...(call.errors ?? []), ...(service.errors ?? [])], Date.now());
    const { verdict } = judgement;
    if (verdict === 'login' && as === 'known' && (await this.#keyring.refused())) throw again;
    if (verdict === 'ignore') throw new Ignored(answerProblem(service.title, answer, judgement).message);
    if (verdict === 'reset') throw new PlaceLost(answerProblem(service.title, answer, judgement).message);
    if (verdict !== 'ok' && verdict !== 'empty' && !(verdict === 'pending' && call.isPoll === true)) {
      throw answerProblem(service.title, answer, judgement);
    }
    if (verdict === 'ok' && fault !== undefined) throw unreadable(service.title, answer, fault);
    if (as === 'known') this.#keyring.accepted();
    return { ...reply, verdict };
  }
}

/** Thrown inside, when a fresh token is worth another attempt at once. */
const again = new Problem({ code: 'SERVICE_LOGIN', family: 'login', message: 'the token was refused' });

/** The answer of a call that is no page: for checks, discoveries and jobs. */
export async function answerOf(caller: Caller, call: Call): Promise<Answer> {
  return (await caller.call(call)).answer;
}
