import { isMap } from '../../lib/is-map.ts';
import type { Problem } from '../../lib/problem.ts';
import type { Schedule } from '../../schedule/schedule.ts';
import { schemaOf } from '../../sdk/option.ts';
import { jobScheduleOptions } from '../options/schedule.ts';
import { readDocument } from '../text/document.ts';
import { Faults } from '../text/faults.ts';
import type { Part } from '../text/variables.ts';
import { loadSchedule } from './schedule.ts';
import { validatePart } from './validate.ts';

/**
 * Parses a schedule in the syntax of the `schedule` option: a string, or a map in braces. A result with neither
 * problems nor a schedule means `manual`.
 */
export function trySchedule(
  text: string,
  timezone: string,
): { readonly schedule?: Schedule; readonly problems: readonly Problem[] } {
  const written = text.trim().startsWith('{') ? text : JSON.stringify(text);
  const document = readDocument('the schedule', `schedule: ${written}`);
  const faults = new Faults(document);
  const value = isMap(document.value) ? document.value : {};
  const part: Part = { path: '', value, resolved: new Map(), broken: new Set() };
  validatePart(part, { schema: schemaOf(jobScheduleOptions), noun: 'job', faults });
  const schedule = loadSchedule(part, { job: '', timezone, rules: {}, faults });
  const problems = [...document.problems, ...faults.problems];
  return { problems, ...(schedule === undefined || problems.length > 0 ? {} : { schedule }) };
}
