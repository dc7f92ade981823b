import type { Detail } from '../../alerts/alert.ts';
import type { Occasion } from '../../config/alerts.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { loginCommand } from '../../oauth/login-problems.ts';
import { roomAdvice } from '../../state/engine/disk-problems.ts';
import type { Store } from '../../state/store.ts';
import { readChecks } from '../checks/check-results.ts';
import { clockAdvice } from '../conditions/clock.ts';
import { failoverAdvice } from '../conditions/failover.ts';
import type { ConditionCache } from '../conditions/read-conditions.ts';
import { explainJob } from '../explain/explain.ts';
import { resumeAdvice } from '../login-holds/problem.ts';
import { reportDisk } from '../report/report-disk.ts';

/** The text for an alert's reader: what the dashboard shows, what Sluice will do next, and how to fix the problem. */
export async function describe(
  subject: string,
  {
    occasion,
    config,
    store,
    clock,
    cache,
  }: { occasion: Occasion; config: Config; store: Store; clock: Clock; cache: ConditionCache },
): Promise<Detail | undefined> {
  const at = subject.indexOf(':');
  const [kind, name] = at === -1 ? [subject, ''] : [subject.slice(0, at), subject.slice(at + 1)];
  if (kind === 'scheduler') {
    const next = { message: 'no job runs until the daemon is restarted' };
    return { next, fix: 'run "sluice health", then restart the daemon' };
  }
  if (kind === 'clock') {
    const next = { message: 'schedules use the new time; the history shows missed and repeated runs' };
    return { next, fix: clockAdvice };
  }
  if (kind === 'database')
    return { next: { message: 'each job sends all its rows at its next run' }, fix: failoverAdvice };
  if (kind === 'disk') {
    const holds = (await reportDisk(config, store))?.holds ?? [];
    const next = {
      message: 'unsent payloads are still sent; jobs whose runs fail for lack of space run again on schedule',
    };
    return { next, fix: roomAdvice(holds) ?? 'sluice doctor' };
  }
  if (kind === 'config') {
    const next = { message: 'jobs without errors keep running' };
    return { next, fix: 'run "sluice config show", fix the file, then run "sluice reload"' };
  }
  if (kind === 'source' && occasion === 'login') {
    const next = { message: "the source's jobs wait; Sluice does not contact the source until it retries the login" };
    return { next, fix: resumeAdvice(name) };
  }
  if (kind === 'source') {
    const advice = (await readChecks(store)).get(name)?.trouble?.next;
    const next = { message: 'Sluice checks the source again within 15 minutes; scheduled runs also try to read it' };
    return { next, fix: advice ?? 'sluice check --connect' };
  }
  if (kind === 'account')
    return { fix: '"sluice plan" shows how many requests each job needs and how to stay within the allowance' };
  if (occasion === 'unsent') {
    const next = { message: 'the daemon keeps retrying; unsent payloads are sent as soon as the service accepts them' };
    return { next, fix: 'to see the cause, run "sluice check --connect"' };
  }
  if (kind === 'destination')
    return { fix: `fix the credentials of destination ${name}; unsent payloads are then sent` };
  if (kind === 'login') {
    const source = [...config.sources.values()].find(({ login }) => login?.name === name);
    return { fix: loginCommand(source?.name ?? name) };
  }
  const job = config.jobs.get(name);
  if (job === undefined) return undefined;
  const { shows_as_of, in_doubt, next, fix } = await explainJob(job, { config, store, clock, cache });
  const doubt = in_doubt === undefined ? {} : { in_doubt };
  const shown =
    job.extract === undefined
      ? {}
      : shows_as_of === undefined
        ? { shows_nothing: true as const }
        : { shows_as_of, ...doubt };
  return { ...shown, ...(next === undefined ? {} : { next }), ...(fix === undefined ? {} : { fix }) };
}
