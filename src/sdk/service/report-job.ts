import { setTimeout as wait } from 'node:timers/promises';
import { exponentialMs } from '../../lib/backoff.ts';
import { type AnswerPath, pick, type ServiceAnswer } from './answer.ts';
import { type ApiClient, answerOf } from './api-client.ts';
import type { JobData, StreamData } from './description.ts';
import { isObject, textOf } from './exact-json.ts';
import { secondsOf } from './moment.ts';
import { placeText } from './page-problems.ts';
import { jobNotMade, jobProblem } from './service-problems.ts';
import type { Scope } from './template.ts';

/** Polls become rarer up to this, or stay as far apart as the stream wants. */
const maxPauseMs = 60_000;

interface ReportJobOptions {
  readonly api: ApiClient;
  readonly stream: StreamData;
  readonly scope: Scope;
  readonly title: string;
  readonly signal: AbortSignal;
  readonly alive: () => void;
}

/** Has the vendor make a report and waits for it. Gives the facts for `job` in templates. */
export async function runReportJob(given: ReportJobOptions): Promise<Readonly<Record<string, unknown>>> {
  const { api, stream, scope, title, signal, alive } = given;
  const { create, keep, start, poll, state, done, failed, every = '5s', patience = '1h' } = stream.job!;
  const call = (request: typeof create, facts: object, isPoll = false) =>
    api.call({ request, scope: { ...scope, job: facts }, decode: jobDecode(stream), errors: stream.errors, isPoll });
  const { answer: made } = await call(create, {});
  const facts = kept(made, keep);
  const missing = Object.keys(keep).find((name) => !isScalar(facts[name]));
  if (missing !== undefined) throw jobNotMade(title, placeText(keep[missing]), made);
  if (start !== undefined)
    await answerOf(api, { request: start, scope: { ...scope, job: facts }, errors: stream.errors });
  const deadline = performance.now() + secondsOf(patience) * 1000;
  const firstMs = secondsOf(every) * 1000;
  for (let polls = 0; ; polls++) {
    const pause = exponentialMs(polls, { firstMs, maxMs: Math.max(firstMs, maxPauseMs), factor: 1.5 });
    const { answer, verdict } = await call(poll, facts, true);
    const said = verdict === 'pending' ? 'pending' : (textOf(pick(answer, state)) ?? '');
    if (done.includes(said)) return { ...facts, ...finished(answer, stream.job!, title) };
    if (failed.includes(said)) throw jobProblem(title, said, false);
    if (performance.now() + pause > deadline) throw jobProblem(title, said, true);
    alive();
    await wait(pause, undefined, { signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw error;
    });
  }
}

/** What to fetch the report with. Null means that there is nothing in it; what is missing altogether means nothing. */
function finished(answer: ServiceAnswer, { result = {}, needs }: JobData, title: string): Record<string, unknown> {
  const facts = kept(answer, result);
  if (needs !== undefined && facts[needs] === undefined) throw jobNotMade(title, placeText(result[needs]), answer);
  return facts;
}

/** Whether there is something to put into an address. */
function isScalar(value: unknown): boolean {
  return (textOf(value) ?? '').trim() !== '' && !isObject(value) && !Array.isArray(value);
}

function jobDecode({ decode }: StreamData) {
  return decode === 'xml' ? 'xml' : 'json';
}

function kept(answer: ServiceAnswer, places: Readonly<Record<string, AnswerPath>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(places).map(([name, where]) => [name, pick(answer, where)]));
}
