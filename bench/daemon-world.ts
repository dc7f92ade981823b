import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The account that the daemon benchmarks use. */
const key = 'ad'.repeat(20);

/** The ID of a job's target. */
export const instanceOf = (job: number): string => job.toString(16).padStart(32, '0');

interface ConfigGiven {
  readonly url: string;
  readonly jobs: number;
  readonly scheduleOf?: (job: number) => string | undefined;
  readonly requestsPerDay?: number;
  readonly always?: boolean;
}

/**
 * Creates a folder with a csv file of twelve rows and with jobs, each of which sends these rows to a target of its own.
 */
export async function writeJobs(folder: string, given: ConfigGiven): Promise<string> {
  const { url, jobs, scheduleOf = () => undefined, requestsPerDay = 50_000, always = false } = given;
  const rows = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')},${month * 1000}`);
  await writeFile(join(folder, 'sales.csv'), `month,sales\n${rows.join('\n')}\n`);
  const all = Array.from({ length: jobs }, (_, job) => {
    const schedule = scheduleOf(job);
    const rest = { schedule, ...(always ? { always: true } : {}) };
    return [
      `job-${job}`,
      { source: 'files', query: 'sales.csv', format: 'csv', target: instanceOf(job), ...rest },
    ] as const;
  });
  const file = join(folder, 'sluice.yaml');
  const main = { url, api_key: key, requests_per_day: requestsPerDay, ask_usage: false, when_short: 'first_come' };
  const config = { version: 1, state: './state', timezone: 'America/New_York', destinations: { main } };
  const text = JSON.stringify({ ...config, sources: { files: { connector: 'file' } }, jobs: Object.fromEntries(all) });
  await writeFile(file, text);
  return file;
}

/** Fixtures for the embedded service: the account, and targets for the first jobs. */
export async function writeFixtures(folder: string, jobs: number): Promise<string> {
  const users = [{ email: 'bench@bench.invalid', role: 'Admin', api_keys: [key] }];
  const datasources = Array.from({ length: jobs }, (_, job) => ({
    id: instanceOf(job),
    name: `Job ${job}`,
    format: 'csv',
    no_refresh: true,
  }));
  const file = join(folder, 'fixtures.json');
  const company = { name: 'Bench', plan: 'enterprise', users, datasources };
  await writeFile(file, JSON.stringify({ companies: [company] }));
  return file;
}

/**
 * A typical agency's fifty jobs, ten for each of these schedules: every 15 minutes, hourly, every two hours, daily, and
 * three times on weekdays.
 */
const rhythms = ['3,18,33,48 * * * *', '6 * * * *', '9 */2 * * *', '30 6 * * *', '10 6,12,18 * * 1-5'];
export const referenceJobs = 50;
export const referenceSchedule = (job: number): string => rhythms[job % rhythms.length]!;
