import type { Logger } from 'pino';
import { type JournalLevel, journalPrefix } from './journal.ts';
import { late } from './late.ts';
import { redact } from './redact.ts';

const pinoPackage = late<typeof import('pino')>(import.meta.url, 'pino');

export type Level = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** A logger. Each call writes one structured line, with a constant message and variable values in the facts. */
export interface Log {
  debug(message: string, facts?: object): void;
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
  error(message: string, facts?: object): void;
  /** A log that adds these facts to every line. */
  with(facts: object): Log;
}

/** Writes JSON lines to a file descriptor (2: standard error), with values redacted. */
export function openLog({ level, descriptor = 2 }: { level: Level; descriptor?: number }): Log {
  if (level === 'silent') return quietLog;
  const { pino } = pinoPackage();
  const prefix = journalPrefix(descriptor);
  const streamWrite = prefix === undefined ? redact : (line: string) => `${prefix(levelOf(line))}${redact(line)}`;
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite } },
    pino.destination({ dest: descriptor, sync: true }),
  );
  return wrap(logger);
}

/** Returns a line's level. Every line starts with it, in pino's numbering. */
function levelOf(line: string): JournalLevel {
  const number = /^\{"level":(\d+)/.exec(line)?.[1];
  return levels[number ?? ''] ?? 'info';
}

const levels: Readonly<Record<string, JournalLevel>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

/** A log that discards everything. */
export const quietLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => quietLog };

function wrap(logger: Logger): Log {
  return {
    debug: (message, facts = {}) => logger.debug(facts, message),
    info: (message, facts = {}) => logger.info(facts, message),
    warn: (message, facts = {}) => logger.warn(facts, message),
    error: (message, facts = {}) => logger.error(facts, message),
    with: (facts) => wrap(logger.child(facts)),
  };
}
