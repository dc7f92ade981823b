import type { SluiceEvents } from '../../daemon/events.ts';
import type { RunOutcome } from '../../daemon/run/run-outcome.ts';
import type { Events } from '../../lib/events.ts';
import { durationText } from '../../lib/time-text.ts';
import { type JobView, Progress, type Screen } from '../output/progress.ts';

const outcomeLabels: Partial<Record<RunOutcome['state'], string>> = {
  waiting_retry: 'waiting to retry',
  waiting_quota: 'waiting for quota',
  waiting_login: 'login refused',
};

/** A run's outcome in a few words, to be shown on a progress line. */
function outcomeLabel(state: RunOutcome['state']): string {
  return outcomeLabels[state] ?? state;
}

const waitingLabels: Readonly<Record<string, string>> = {
  QUOTA_SPENT: 'waiting for quota',
  ACCOUNT_PAUSED: 'rate-limited',
};

/** Why a payload is waiting, in a few words that depend on the problem's code. */
function waitingLabel({ code, until }: { readonly code: string; readonly until?: number }, now: number): string {
  if (code === 'SEND_SLOTS_BUSY' && until !== undefined) {
    return `waiting because earlier requests got no response; will send in ${durationText(Math.max(0, until - now))}`;
  }
  return waitingLabels[code] ?? 'waiting to retry';
}

/** Follows events to show the progress of these jobs until it's stopped. Does nothing if there is no terminal. */
export function followJobs(
  events: Pick<Events<SluiceEvents>, 'listen'>,
  { screen, jobs }: { readonly screen: Screen | undefined; readonly jobs: readonly { readonly name: string }[] },
): { stop: () => void } {
  if (screen === undefined) return { stop: () => undefined };
  const progress = new Progress(screen);
  progress.expect(jobs.map(({ name }) => name));
  const show = (job: string, news: Partial<Omit<JobView, 'job'>>): void => progress.refresh(job, news);
  const silence = events.listen((name, facts) => {
    if (name === 'run.started') show(facts.job, { state: 'reading', startedAt: Date.now() });
    else if (name === 'extract.progressed') show(facts.job, { rows: facts.rows, bytes: facts.bytes });
    else if (name === 'payload.owed') show(facts.job, { state: 'ready to send', rows: facts.rows, bytes: facts.bytes });
    else if (name === 'upload.started')
      show(facts.job, { state: facts.attempt > 1 ? `sending, try ${facts.attempt}` : 'sending' });
    else if (name === 'payload.repeated') show(facts.job, { state: 'sent again' });
    else if (name === 'payload.waiting') show(facts.job, { state: waitingLabel(facts, Date.now()) });
    else if (name === 'run.retrying') {
      const wait = durationText(Math.max(0, facts.at - Date.now()));
      show(facts.job, { state: `${facts.code}: ${facts.message}; next attempt in ${wait}, Ctrl-C to cancel` });
    } else if (name === 'run.finished')
      show(facts.job, {
        state: outcomeLabel(facts.outcome),
        rows: facts.rows,
        bytes: facts.bytes,
        endedAt: Date.now(),
      });
  });
  const stop = (): void => {
    silence();
    progress.stop();
  };
  return { stop };
}
