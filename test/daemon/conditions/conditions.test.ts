import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { Console } from '../../../src/console/console.ts';
import { recordOf, saveRecord, saveRejection } from '../../../src/daemon/config/config-record.ts';
import { explainJob } from '../../../src/daemon/explain/explain.ts';
import { reportStatus } from '../../../src/daemon/report/report-status.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { forgetSecrets, registerSecret } from '../../../src/lib/redact.ts';
import { noon, SteppingClock } from '../../clocks.ts';
import { cleanUp, newFolder, newStore, oweText } from '../../state/fixtures.ts';
import { configOf, destinationOf, jobOf, Source } from '../rig.ts';

afterEach(cleanUp);

const fault = new Problem({
  code: 'CONFIG_WRONG_VALUE',
  family: 'config',
  message: 'retries is not a number',
  where: { file: 'sluice.yaml', line: 7 },
  next: 'write a number',
});
const note = { file: '/nowhere/sluice.yaml', sha256: '0', faults: [], leftOut: [], shown: '' };

/** Two of a daemon's jobs, and what each user interface reports about them. */
async function setUp() {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const destination = destinationOf('http://127.0.0.1:1/api/1.0');
  const jobs = ['orders', 'stock'].map((name) => jobOf({ name, instance: name, source: new Source(), destination }));
  const config = configOf('/nowhere', jobs);
  const daemon = (await store.leases.take('daemon'))!;
  await saveRecord(note, { store, clock });
  const look = async (given = config) => {
    const pages = new Console({ config: () => given, store, clock, version: '1' });
    const page = async (path: string) => (await pages.answer(new URL(path, 'http://monitor')))!;
    return { status: await reportStatus(given, store, clock), page, home: (await page('/')).text };
  };
  return { clock, store, config, daemon, look };
}

describe('a condition', () => {
  it("doesn't exist if every job is healthy", async () => {
    const { look } = await setUp();
    const { status, home } = await look();
    expect(status.conditions).toEqual([]);
    expect(home).toContain('All 2 jobs healthy');
  });

  it('reports a job that was left out because of an invalid config: in lists, in counts and on a page with the error', async () => {
    const { config, look } = await setUp();
    const { status, home, page } = await look({ ...config, leftOut: new Map([['returns', [fault]]]) });
    expect(status).toMatchObject({
      left_out: ['returns'],
      conditions: [
        {
          subject: 'job:returns',
          kind: 'left_out',
          level: 'error',
          jobs: ['returns'],
          code: 'CONFIG_WRONG_VALUE',
          fix: 'write a number, then run "sluice reload"',
        },
      ],
    });
    expect(home).toContain('1 of 3 jobs needs attention');
    const { status: code, text } = await page('/jobs/returns');
    expect(code).toBe(404);
    expect(text).toContain('retries is not a number');
  });

  it('only advises a reload if a daemon is running', async () => {
    const { config, store, daemon, look } = await setUp();
    await oweText(store, { instance: 'orders', text: 'id\n1\n', asOf: noon, job: 'orders' });
    const faulty = {
      ...config,
      destinations: new Map(),
      leftOut: new Map([
        ['returns', [fault]],
        ['refunds', [new Problem({ code: 'CONFIG_WRONG_VALUE', family: 'config', message: 'not a number' })]],
      ]),
    };
    const advised = async () => {
      const { conditions } = (await look(faulty)).status;
      return conditions.filter(({ fix }) => fix?.includes('sluice reload')).map(({ subject }) => subject);
    };
    expect(await advised()).toEqual(['job:returns', 'job:refunds', 'stranded:orders main']);
    await daemon.release();
    expect(await advised()).toEqual([]);
  });

  it('hides secrets that were not yet known when its text was stored', async () => {
    onTestFinished(forgetSecrets);
    const { store, look } = await setUp();
    const run = await store.runs.begin({ job: 'orders', origin: 'schedule' });
    const problem = { code: 'DB_UNREACHABLE', message: 'no entry for hunter-of-secrets' };
    await store.runs.finish(run, { state: 'failed', problem });
    registerSecret('hunter-of-secrets');
    const { status } = await look();
    expect(status.conditions).toMatchObject([{ what: expect.stringContaining('no entry for [redacted]') }]);
  });

  it('says that the daemon keeps its active config if only the file is invalid', async () => {
    const { config, store, clock, look } = await setUp();
    const edited = { ...config, leftOut: new Map([['returns', [fault]]]) };
    expect((await look(edited)).status.conditions).toMatchObject([
      {
        kind: 'left_out',
        what: 'the config file has an error: retries is not a number (sluice.yaml:7); the daemon keeps its current config',
      },
    ]);

    const told = { code: fault.code, place: 'sluice.yaml:7', message: fault.message };
    await saveRecord({ ...note, faults: [told], leftOut: [{ job: 'returns', faults: [told] }] }, { store, clock });
    expect((await look(edited)).status.conditions).toMatchObject([
      { kind: 'left_out', what: 'left out because of an error in the config: retries is not a number (sluice.yaml:7)' },
    ]);
  });

  it('is only a warning about this command if the daemon read the same file without the error', async () => {
    const { config, store, clock, look } = await setUp();
    const file = join(newFolder(), 'sluice.yaml');
    await writeFile(file, 'jobs: {}');
    const edited = { ...config, file, leftOut: new Map([['returns', [fault]]]) };
    await saveRecord({ ...note, ...(await recordOf(file)) }, { store, clock });
    expect((await look(edited)).status.conditions).toMatchObject([
      { kind: 'left_out', level: 'warning', what: expect.stringContaining('the daemon read the same file') },
    ]);
    await writeFile(file, 'jobs: {returns: {}}');
    expect((await look(edited)).status.conditions).toMatchObject([
      { kind: 'left_out', level: 'error', what: expect.stringContaining('the daemon keeps its current config') },
    ]);
  });

  it('reports a job that the daemon left out until the corrected file is reloaded', async () => {
    const { store, clock, look } = await setUp();
    const told = { code: fault.code, place: 'sluice.yaml:7', message: fault.message };
    await saveRecord({ ...note, faults: [told], leftOut: [{ job: 'stock', faults: [told] }] }, { store, clock });
    const { status, home } = await look();
    expect(status.conditions).toMatchObject([{ kind: 'left_out', jobs: ['stock'] }]);
    expect(home).toContain('1 of 2 jobs needs attention');
  });

  it("doesn't exist for a disabled job, or if only a daemon with another config recorded it", async () => {
    const { store, clock, config, look } = await setUp();
    const told = { code: fault.code, place: 'other.yaml:7', message: fault.message };
    const leftOut = [{ job: 'stock', faults: [told] }];
    await saveRecord({ ...note, file: '/nowhere/other.yaml', faults: [told], leftOut }, { store, clock });
    expect((await look()).status.conditions).toEqual([]);
    const run = await store.runs.begin({ job: 'orders', origin: 'schedule' });
    await store.runs.finish(run, { state: 'failed', problem: fault });
    expect((await look()).status.conditions).toMatchObject([{ kind: 'failed', jobs: ['orders'] }]);
    const [orders, stock] = config.jobs.values();
    const disabled = new Map([
      ['orders', { ...orders!, enabled: false }],
      ['stock', stock!],
    ]);
    expect((await look({ ...config, jobs: disabled })).status.conditions).toEqual([]);
  });

  it('reports a rejected reload, with advice to fix the file instead of sending the signal again', async () => {
    const { store, clock, look } = await setUp();
    await saveRejection(note, { store, clock }, [fault]);
    const { status, home } = await look();
    expect(status.conditions).toMatchObject([
      {
        subject: 'config',
        kind: 'reload_refused',
        jobs: [],
        fix: expect.stringMatching(/fix the file.*sluice reload/),
      },
    ]);
    expect(home).toContain('All 2 jobs healthy; 1 other problem');
    expect(home).toContain('a reload was rejected');
    expect(home).not.toContain('SIGHUP');
  });

  it('reports a service that accepts nothing: as a warning while uploads are retried, then as an error', async () => {
    const { clock, store, look } = await setUp();
    const { owed } = await oweText(store, { instance: 'orders', text: 'id\n1\n', asOf: noon, job: 'orders' });
    if (owed.state !== 'owed') throw new Error('not owed');
    await store.outbox.postpone(owed.id, { code: 'UNREACHABLE', message: 'connection refused', free: false });
    const first = await look();
    expect(first.status.conditions).toMatchObject([{ kind: 'unsent', level: 'warning', jobs: ['orders'] }]);
    expect(first.home).toContain('1 of 2 jobs has a warning');
    clock.advance(15 * 60_000);
    const later = await look();
    expect(later.status.conditions).toContainEqual(expect.objectContaining({ kind: 'unsent', level: 'error' }));
    expect(later.home).toContain('1 of 2 jobs needs attention');
  });

  it("reports stale data, which `explain` doesn't call up to date", async () => {
    const { clock, store, config, look } = await setUp();
    const run = await store.runs.begin({ job: 'orders', origin: 'schedule' });
    const { owed } = await oweText(store, { instance: 'orders', text: 'id\n1\n', asOf: noon, job: 'orders' });
    const row = owed.state === 'owed' ? await store.outbox.attempt(owed.id) : undefined;
    await store.outbox.delivered(row!);
    await store.runs.finish(run, { state: 'unchanged' });
    const explain = () => explainJob(config.jobs.get('orders')!, { config, store, clock });
    expect((await explain()).verdict).toMatch(/^up to date/);
    clock.advance(5 * 3_600_000);
    expect((await look()).status.conditions).toContainEqual(
      expect.objectContaining({ kind: 'stale', jobs: ['orders'] }),
    );
    expect(await explain()).toMatchObject({ verdict: 'late', fix: expect.stringContaining('sluice sync orders') });
  });
});
