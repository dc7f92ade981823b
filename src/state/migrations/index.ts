import type { Kysely } from 'kysely';
import { up as theStore } from './001-the-store.ts';
import { up as logins } from './002-logins.ts';
import { up as watermarks } from './003-watermarks.ts';
import { up as guards } from './004-guards.ts';
import { up as schedules } from './005-schedules.ts';
import { up as budget } from './006-budget.ts';
import { up as sets } from './007-sets.ts';
import { up as alerts } from './008-alerts.ts';
import { up as instanceIndex } from './009-instance-index.ts';
import { up as cuts } from './010-cuts.ts';
import { up as nextSteps } from './011-next-steps.ts';
import { up as movedPayloads } from './012-moved-payloads.ts';
import { up as blames } from './013-blames.ts';
import { up as auditValues } from './014-audit-values.ts';
import { up as unanswered } from './015-unanswered.ts';
import { up as firedAt } from './016-fired-at.ts';
import { up as warnings } from './017-warnings.ts';
import { up as runDurations } from './018-run-durations.ts';
import { up as arrivesBy } from './019-arrives-by.ts';
import { up as retries } from './020-retries.ts';
import { up as loginHolds } from './021-login-holds.ts';

/** One numbered step of the schema. A step that has been released is never changed; a new one is added. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  up(db: Kysely<unknown>): Promise<void>;
}

export const migrations: readonly Migration[] = [
  { number: 1, name: 'the-store', up: theStore },
  { number: 2, name: 'logins', up: logins },
  { number: 3, name: 'watermarks', up: watermarks },
  { number: 4, name: 'guards', up: guards },
  { number: 5, name: 'schedules', up: schedules },
  { number: 6, name: 'budget', up: budget },
  { number: 7, name: 'sets', up: sets },
  { number: 8, name: 'alerts', up: alerts },
  { number: 9, name: 'instance-index', up: instanceIndex },
  { number: 10, name: 'cuts', up: cuts },
  { number: 11, name: 'next-steps', up: nextSteps },
  { number: 12, name: 'moved-payloads', up: movedPayloads },
  { number: 13, name: 'blames', up: blames },
  { number: 14, name: 'audit-values', up: auditValues },
  { number: 15, name: 'unanswered', up: unanswered },
  { number: 16, name: 'fired-at', up: firedAt },
  { number: 17, name: 'warnings', up: warnings },
  { number: 18, name: 'run-durations', up: runDurations },
  { number: 19, name: 'arrives-by', up: arrivesBy },
  { number: 20, name: 'retries', up: retries },
  { number: 21, name: 'login-holds', up: loginHolds },
];
