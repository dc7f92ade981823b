import { setTimeout as wait } from 'node:timers/promises';
import { exponentialMs } from '../../lib/backoff.ts';
import { Problem } from '../../lib/problem.ts';
import type { ConnectorLog } from '../connector.ts';
import { type AnswerPath, pick, type ServiceAnswer } from './answer.ts';
import { answerOf, type ClassifiedReply, type ServiceCall } from './api-client.ts';
import type { JobData, StreamData } from './description.ts';
import { isObject, textOf } from './exact-json.ts';
import { secondsOf } from './moment.ts';
import { placeText } from './page-problems.ts';
import type { ReportOrder, ReportOrders } from './report-orders.ts';
import type { RequestData } from './request-data.ts';
import { Ignored, jobNotMade, jobProblem, WatermarkLost } from './service-problems.ts';
import type { Scope } from './template.ts';

/** Maximum poll interval, unless the stream's own interval is longer. */
const maxPauseMs = 60_000;

type Facts = Readonly<Record<string, unknown>>;

/** Makes the calls that create and poll a report. */
export interface ReportApi {
  /** A hash of a request without its credentials. All of a run's attempts compute the same hash. */
  hashOf(request: RequestData, scope: Scope): Promise<string>;
  call(call: ServiceCall): Promise<Pick<ClassifiedReply, 'answer' | 'verdict'>>;
}

export interface ReportJobOptions {
  readonly api: ReportApi;
  readonly stream: Pick<StreamData, 'job' | 'decode' | 'errors'>;
  readonly scope: Scope;
  readonly title: string;
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  readonly alive: () => void;
  /** Ordered reports. */
  readonly orders: ReportOrders;
}

/**
 * Reads an asynchronous report. `read` gets the values for `job` in templates. If an earlier attempt of the run
 * requested the report and the report still exists, continues with it, because requesting another one would cost as
 * much again.
 */
export async function* readReport<T>(
  given: ReportJobOptions,
  read: (facts: Facts) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const { api, stream, scope, signal, log, orders } = given;
  const key = `${textOf(scope.stream)} ${await api.hashOf(stream.job!.create, scope)}`;
  const earlier = orders.take(key);
  let hasBegun = false;
  if (earlier !== undefined && leftMs(earlier, stream.job!) > 0) {
    try {
      for await (const item of readOrder(given, { key, order: earlier, isEarlier: true }, read)) {
        hasBegun = true;
        yield item;
      }
      return;
    } catch (error) {
      if (signal.aborted || hasBegun || !isGone(error)) throw error;
      const because = error instanceof Error ? error.message : String(error);
      log.warn('the report requested by an earlier attempt no longer exists; requesting another one', { because });
    }
  }
  orders.forget(key);
  const order = await placeOrder(given);
  orders.keep(key, order);
  yield* readOrder(given, { key, order, isEarlier: false }, read);
}

interface OrderInHand {
  readonly key: string;
  readonly order: ReportOrder;
  /** Whether an earlier attempt requested the report. */
  readonly isEarlier: boolean;
}

/** Waits for a requested report and reads it. A failed report isn't polled again. */
async function* readOrder<T>(
  given: ReportJobOptions,
  inHand: OrderInHand,
  read: (facts: Facts) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const { needs = '' } = given.stream.job!;
  try {
    const facts = await awaitReport(given, inHand);
    if (needs === '' || textOf(facts[needs]) !== undefined) yield* read(facts);
  } catch (error) {
    if (!given.signal.aborted && (isGone(error) || isLate(error))) given.orders.forget(inHand.key);
    throw error;
  }
}

/** Orders a report. */
async function placeOrder({ api, stream, scope, title }: ReportJobOptions): Promise<ReportOrder> {
  const { create, keep } = stream.job!;
  const answer = await answerOf(api, jobCall(stream, scope, create, {}));
  const facts = kept(answer, keep);
  const missing = Object.keys(keep).find((name) => !isScalar(facts[name]));
  if (missing !== undefined) throw jobNotMade(title, placeText(keep[missing]), answer);
  return { facts, at: Date.now(), isStarted: false };
}

/** Polls until the report is ready. */
async function awaitReport(given: ReportJobOptions, { key, order, isEarlier }: OrderInHand): Promise<Facts> {
  const { api, stream, scope, title, signal, alive, orders } = given;
  const { start, poll, state, done, failed, every = '5s' } = stream.job!;
  const { facts } = order;
  if (start !== undefined && !order.isStarted) {
    await answerOf(api, { request: start, scope: { ...scope, job: facts }, errors: stream.errors });
    orders.keep(key, { ...order, isStarted: true });
  }
  const deadline = performance.now() + leftMs(order, stream.job!);
  const firstMs = secondsOf(every) * 1000;
  for (let polls = 0; ; polls++) {
    const pause = exponentialMs(polls, { firstMs, maxMs: Math.max(firstMs, maxPauseMs), factor: 1.5 });
    const { answer, verdict } = await api.call({ ...jobCall(stream, scope, poll, facts), isPoll: true });
    const status = verdict === 'pending' ? 'pending' : (textOf(pick(answer, state)) ?? '');
    if (done.includes(status)) return { ...facts, ...finished(answer, stream.job!, title) };
    // Some vendors return null for a deleted report.
    if (failed.includes(status) || (isEarlier && status === '')) throw jobProblem(title, status, false);
    if (performance.now() + pause > deadline) throw jobProblem(title, status, true);
    alive();
    await wait(pause, undefined, { signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw error;
    });
  }
}

/** Milliseconds until the wait for the report times out. */
function leftMs({ at }: ReportOrder, { patience = '1h' }: JobData): number {
  return secondsOf(patience) * 1000 - Math.max(0, Date.now() - at);
}

/** Whether the error means that the report will never be ready. A refused login doesn't mean that. */
function isGone(error: unknown): boolean {
  if (!(error instanceof Problem)) return error instanceof Ignored || error instanceof WatermarkLost;
  if (error.family === 'job' || error.family === 'config') return true;
  return error.code === 'SERVICE_JOB_FAILED' || error.code === 'SERVICE_PERMISSION';
}

function isLate(error: unknown): boolean {
  return error instanceof Problem && error.code === 'SERVICE_JOB_LATE';
}

function jobCall(stream: ReportJobOptions['stream'], scope: Scope, request: JobData['create'], job: Facts) {
  const decode = stream.decode === 'xml' ? ('xml' as const) : ('json' as const);
  return { request, scope: { ...scope, job }, decode, errors: stream.errors };
}

/**
 * The values that are needed to fetch the report. A null value means that the report is empty, but a missing value
 * doesn't.
 */
function finished(answer: ServiceAnswer, { result = {}, needs }: JobData, title: string): Record<string, unknown> {
  const facts = kept(answer, result);
  if (needs !== undefined && facts[needs] === undefined) throw jobNotMade(title, placeText(result[needs]), answer);
  return facts;
}

/** Whether the value can be used in a URL. */
function isScalar(value: unknown): boolean {
  return (textOf(value) ?? '').trim() !== '' && !isObject(value) && !Array.isArray(value);
}

function kept(answer: ServiceAnswer, places: Readonly<Record<string, AnswerPath>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(places).map(([name, where]) => [name, pick(answer, where)]));
}
