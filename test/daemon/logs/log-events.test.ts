import { expect, it } from 'vitest';
import type { SluiceEvents } from '../../../src/daemon/events.ts';
import { logEvents } from '../../../src/daemon/logs/log-events.ts';
import { Events } from '../../../src/lib/events.ts';
import type { Log } from '../../../src/lib/log.ts';
import { payloadFacts } from '../rig.ts';

function listen() {
  const lines: string[] = [];
  const at = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), with: () => log };
  const events = new Events<SluiceEvents>();
  logEvents(events, log);
  return { events, lines };
}

it.each([
  ['failed', 'error'],
  ['dead', 'error'],
  ['delivered', 'info'],
  ['owed', 'info'],
  ['stopped', 'info'],
] as const)('a run that ends %s is logged as %s, so that error lines alone show what broke', (outcome, level) => {
  const { events, lines } = listen();
  const figures = { rows: 0, bytes: 0, requests: 0, milliseconds: 1 };
  events.emit('run.finished', { job: 'orders', run: 'r', outcome, ...figures });
  expect(lines).toEqual([`${level} run.finished`]);
});

it('frequent events of healthy jobs are logged only at the debug level', () => {
  const { events, lines } = listen();
  events.emit('extract.progressed', { job: 'orders', run: 'r', rows: 1, bytes: 1 });
  events.emit('config.stranded', { destination: 'old', payloads: 2 });
  expect(lines).toEqual(['debug extract.progressed', 'warn config.stranded']);
});

it('a failed attempt is logged as one line with the error and what happens next', () => {
  const { events, lines } = listen();
  const trouble = { code: 'DELIVERY_NO_ANSWER', message: 'No answer came', attempt: 1 };
  events.emit('upload.failed', { ...payloadFacts, ...trouble, action: 'retry' });
  events.emit('payload.waiting', { ...payloadFacts, ...trouble, until: 1 });
  expect(lines).toEqual(['debug upload.failed', 'warn payload.waiting']);
});

it('the log writes times in a readable form, and durations without excess digits', () => {
  const facts: object[] = [];
  const say = (_: string, told: object = {}) => void facts.push(told);
  const log: Log = { debug: say, info: say, warn: say, error: say, with: () => log };
  const events = new Events<SluiceEvents>();
  logEvents(events, log);
  events.emit('job.throttled', { job: 'orders', every: 2, message: 'runs every 2m', until: Date.UTC(2026, 10, 22, 5) });
  const failed = { rows: 0, bytes: 0, requests: 0, milliseconds: 146.8289999961853, next: 'fix the query' };
  events.emit('run.finished', { job: 'orders', run: 'r', outcome: 'failed', ...failed });
  expect(facts).toMatchObject([
    { every: 2, until: '2026-11-22T05:00:00.000Z' },
    { milliseconds: 147, next: 'fix the query' },
  ]);
});
