import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { hostname } from 'node:os';
import { Registry } from 'prom-client';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Config, Job, MonitorAddress } from '../../../src/config/config.ts';
import type { SluiceEvents } from '../../../src/daemon/events.ts';
import { Counters } from '../../../src/daemon/monitor/counters.ts';
import { Monitoring } from '../../../src/daemon/monitoring.ts';
import { Systemd } from '../../../src/daemon/process/systemd.ts';
import { Events } from '../../../src/lib/events.ts';
import { type Log, quietLog } from '../../../src/lib/log.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { registerSecret } from '../../../src/lib/redact.ts';
import { configOf, destinationOf, gate, overdue, type Started, setUp, startDaemon } from '../rig.ts';
import { lintExposition, parseExposition } from './exposition.ts';

/** A daemon's monitor, and the URL that it listens on. */
async function watch({ daemon, runtime }: Started, options: Partial<MonitorAddress> = {}): Promise<string> {
  let url = '';
  const info: Log['info'] = (_, facts) => {
    url = (facts as { url: string }).url;
  };
  const log: Log = { ...quietLog, info };
  const monitor = { host: '127.0.0.1', port: 0, ...options };
  const monitoring = await Monitoring.open({
    daemon,
    runtime,
    log,
    systemd: new Systemd({ env: {}, log }),
    monitor,
  });
  onTestFinished(() => monitoring.close());
  await monitoring.started();
  return url;
}

async function get(url: string, host?: string): Promise<{ status: number; type: string; text: string }> {
  const { statusCode, headers, body } = await request(url, host === undefined ? {} : { headers: { host } });
  return { status: statusCode, type: String(headers['content-type']), text: await body.text() };
}

/** One job whose source responds when the test says so. */
async function setUpGated() {
  const { config, job, source } = await setUp({ name: 'orders "1"' });
  const { says, open } = gate();
  source.says = says;
  return { config, job, speak: () => open('hello') };
}

/** What Prometheus's own checker reports about all metrics, including those of the process and of Node. */
async function promtool(text: string): Promise<string> {
  const child = execFile('promtool', ['check', 'metrics'], {
    encoding: 'utf8',
    env: { PATH: `${process.env.PATH}:/usr/local/sbin` },
  });
  let said = '';
  child.stdout?.on('data', (piece: string) => (said += piece));
  child.stderr?.on('data', (piece: string) => (said += piece));
  child.stdin?.end(text);
  const [code] = (await once(child, 'close')) as [number];
  return code === 0 ? said : `${said}ended with ${code}`;
}

const find = (text: string, name: string, labels: Record<string, string> = {}): number | undefined =>
  parseExposition(text)
    .flatMap(({ samples }) => samples)
    .find(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )?.value;

describe('the monitor', () => {
  it('exports metrics whose names and units a metrics linter accepts', async () => {
    const { config, job, speak } = await setUpGated();
    const started = await startDaemon(config, { before: overdue(job) });
    const url = await watch(started);
    speak();
    started.runtime.events.emit('quota.spent', { account: 'account', destination: 'main', until: 1 });
    await started.hear('payload.delivered');
    const request = { account: 'account', method: 'PUT', path: '/' };
    started.runtime.events.emit('request.sent', { ...request, milliseconds: 2_500 });
    started.runtime.events.emit('request.answered', { ...request, milliseconds: 1, status: 429, limit: 'day' });
    const { status, type, text } = await get(`${url}/metrics`);
    expect(status).toBe(200);
    expect(type).toMatch(/^text\/plain; version=0\.0\.4/);
    const ours = parseExposition(text).filter(({ name }) => name.startsWith('sluice_'));
    expect(ours.length).toBeGreaterThan(20);
    expect(lintExposition(ours)).toEqual([]);
    expect(await promtool(text)).toBe('');
    const job_name = 'orders \\"1\\"';
    expect(find(text, 'sluice_payloads_total', { job_name, result: 'delivered' })).toBe(1);
    expect(find(text, 'sluice_runs_total', { job_name, result: 'failed' })).toBe(0);
    expect(find(text, 'sluice_delivered_bytes_total', { job_name })).toBeGreaterThan(0);
    expect(find(text, 'sluice_last_publish_timestamp_seconds', { job_name })).toBeGreaterThan(1.7e9);
    expect(find(text, 'sluice_requests_total', { account: 'main', status_class: '2xx' })).toBe(1);
    expect(find(text, 'sluice_waits_total', { account: 'main', reason: 'quota' })).toBe(1);
    const throttled = (limit: string) => find(text, 'sluice_throttled_requests_total', { account: 'main', limit });
    expect([throttled('second'), throttled('day')]).toEqual([0, 1]);
    expect(find(text, 'sluice_pacing_seconds_total', { account: 'main' })).toBeGreaterThanOrEqual(2.5);
    expect(find(text, 'sluice_outbox_payloads', { destination: 'main' })).toBe(0);
    expect(find(text, 'sluice_quota_left_requests', { account: 'main' })).toBe(999);
    expect(find(text, 'sluice_run_duration_seconds_count')).toBe(1);
    expect(find(text, 'sluice_waiting_firings')).toBe(0);
    expect(find(text, 'sluice_scheduler_ticking')).toBe(1);
    expect(find(text, 'sluice_build_info', { version: '0.1.0', commit: 'unknown', node: process.version })).toBe(1);
    expect(find(text, 'process_resident_memory_bytes')).toBeGreaterThan(0);
    expect(find(text, 'nodejs_eventloop_lag_seconds')).toBeDefined();
  });

  it('restores the last publication after a restart', async () => {
    const { config, job, speak } = await setUpGated();
    speak();
    const first = await startDaemon(config, { before: overdue(job) });
    await first.hear('payload.delivered');
    await first.stop();
    const { text } = await get(`${await watch(await startDaemon(config))}/metrics`);
    expect(find(text, 'sluice_last_publish_timestamp_seconds')).toBeGreaterThan(1.7e9);
  });

  it('shows how many rows a job keeps, and their size on disk', async () => {
    const started = await startDaemon((await setUpGated()).config);
    const segment = { file: 'r1/1.rows', rows: 5, bytes: 700, crc: 0, asOf: 0 };
    const manifest = { version: 1 as const, columns: [], next: 0, rows: 3, segments: [segment] };
    await started.runtime.store.transaction(async ({ generations }) => {
      await generations.keep({ job: 'kept', run: 'r1', reading: '', shape: '', manifest, watermark: undefined });
      await generations.advance('kept', 'r1');
    });
    const { text } = await get(`${await watch(started)}/metrics`);
    expect(find(text, 'sluice_kept_rows', { job_name: 'kept' })).toBe(3);
    expect(find(text, 'sluice_kept_bytes', { job_name: 'kept' })).toBe(700);
  });

  it("shows owed payloads, and isn't ready while a destination refuses the credentials", async () => {
    const { config, job, speak } = await setUpGated();
    const refused = destinationOf(job.destination.url, { credentials: { kind: 'api_key', key: 'be'.repeat(20) } });
    const started = await startDaemon(configOf(config.folder, [{ ...job, destination: refused }]), {
      before: overdue(job),
    });
    const url = await watch(started);
    speak();
    await started.hear('login.refused');
    const ready = await get(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(ready.text).toContain('main refuses the credentials');
    expect((await get(`${url}/healthz`)).status).toBe(200);
    const { text } = await get(`${url}/metrics`);
    expect(find(text, 'sluice_outbox_payloads', { destination: 'main' })).toBe(1);
    expect(find(text, 'sluice_outbox_bytes', { destination: 'main' })).toBeGreaterThan(0);
    expect(find(text, 'sluice_requests_total', { status_class: '4xx' })).toBe(1);
    expect(find(text, 'sluice_conditions', { kind: 'credentials', level: 'error' })).toBe(1);
    await started.daemon.adopt(config);
    await started.hear('payload.delivered');
    expect((await get(`${url}/readyz`)).status).toBe(200);
  });

  it("isn't ready while a config error excludes a job, and counts such jobs", async () => {
    const { config } = await setUpGated();
    const fault = new Problem({ code: 'CONFIG_WRONG_VALUE', family: 'config', message: 'a password: hunter' });
    const started = await startDaemon({ ...config, leftOut: new Map([['returns', [fault]]]) });
    const url = await watch(started);
    const ready = await get(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(ready.text).toContain('job returns is left out because of an error in the config');
    expect(ready.text).not.toContain('hunter');
    const { text } = await get(`${url}/metrics`);
    expect(find(text, 'sluice_conditions', { kind: 'left_out', level: 'error' })).toBe(1);
    expect(find(text, 'sluice_conditions', { kind: 'failed', level: 'error' })).toBe(0);
    await started.daemon.adopt(config);
    expect((await get(`${url}/readyz`)).status).toBe(200);
  });

  it("reports that it's alive until the end, but isn't ready once the daemon stops", async () => {
    const { config } = await setUpGated();
    const started = await startDaemon(config);
    const url = await watch(started);
    expect((await get(`${url}/readyz`)).status).toBe(200);
    await started.daemon.stop('the test says so');
    expect((await get(`${url}/healthz`)).status).toBe(200);
    expect((await get(`${url}/readyz`)).status).toBe(503);
  });

  it('serves no other pages, and leaks no secret', async () => {
    registerSecret('hunter-of-secrets');
    const { config, job } = await setUpGated();
    const named = { ...config, jobs: new Map([['hunter-of-secrets', { ...job, name: 'hunter-of-secrets' }]]) };
    const url = await watch(await startDaemon(named));
    const missing = await get(`${url}/`);
    expect(missing.status).toBe(404);
    expect(missing.text).toContain('/jobs/NAME');
    expect((await request(`${url}/metrics`, { method: 'POST' })).statusCode).toBe(405);
    const { text } = await get(`${url}/metrics`);
    expect(text).not.toContain('hunter-of-secrets');
    expect(text).toContain('[redacted]');
  });

  it('responds despite more idle connections than it allows', async () => {
    const { config } = await setUpGated();
    const url = await watch(await startDaemon(config));
    for (let i = 0; i < 70; i++) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      if (i % 2 === 0) socket.write('GET /healthz HTTP/1.1\r\nhost: loc');
    }
    for (const path of ['healthz', 'readyz', 'metrics']) expect((await get(`${url}/${path}`)).status).toBe(200);
  });

  it('rejects requests that HTTP/1.1 does not allow, such as with several Host headers', async () => {
    const { config } = await setUpGated();
    const url = await watch(await startDaemon(config));
    for (const [line, hosts, text] of [
      ['HTTP/1.1', 'host: localhost\r\nhost: localhost\r\n', 'several Host headers'],
      ['HTTP/2.0', 'host: localhost\r\n', 'HTTP/2.0 is not supported'],
    ]) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      socket.write(`GET /healthz ${line}\r\n${hosts}connection: close\r\n\r\n`);
      const answer = Buffer.concat(await socket.toArray()).toString();
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain(text);
    }
  });

  it.each(['/', '/healthz', '/readyz', '/metrics'])('on %s, responds only to its own host names', async (path) => {
    const { config } = await setUpGated();
    const url = await watch(await startDaemon(config), { names: ['sluice.Example.com'] });
    const { port } = new URL(url);
    const foreign = await get(url + path, `rebound.example.com:${port}`);
    expect(foreign.status).toBe(421);
    expect(foreign.text).toContain('rebound.example.com');
    expect(foreign.text).toContain('monitor.names');
    const own = ['localhost', 'sluice', '10.1.2.3', '[::1]', hostname(), 'sluice.example.com', 'SLUICE.EXAMPLE.COM'];
    for (const name of own) expect((await get(url + path, `${name}:${port}`)).status).toBe(path === '/' ? 404 : 200);
  });

  it('reports a single error if its port is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const { daemon, runtime } = await startDaemon((await setUpGated()).config);
    const monitor = { host: '127.0.0.1', port };
    const opened = Monitoring.open({
      daemon,
      runtime,
      log: quietLog,
      systemd: new Systemd({ env: {}, log: quietLog }),
      monitor,
    });
    await expect(opened).rejects.toMatchObject({ code: 'MONITOR_CANNOT_LISTEN', seen: `127.0.0.1:${port}` });
  });
});

describe('docs/operate.md', () => {
  it('documents exactly the existing metrics', async () => {
    const { config } = await setUpGated();
    const { text } = await get(`${await watch(await startDaemon(config))}/metrics`);
    const ours = parseExposition(text).map(({ name }) => name);
    const page = await readFile(new URL('../../../docs/operate.md', import.meta.url), 'utf8');
    const told = new Set(
      page.match(
        /\bsluice_[a-z_]+(?<=_(total|seconds|bytes|requests|payloads|jobs|firings|ticking|alerts|conditions|messages|rows|answers|processes|runs|info))\b/g,
      ),
    );
    expect([...told].sort()).toEqual(ours.filter((name) => name.startsWith('sluice_')).sort());
  });
});

describe('the counters', () => {
  it('stop distinguishing jobs after a thousand of them', async () => {
    const names = Array.from({ length: 1200 }, (_, i) => `job${i}`);
    const jobs = new Map(names.map((name) => [name, {} as Job]));
    const events = new Events<SluiceEvents>();
    const registry = new Registry();
    new Counters({
      registry,
      events,
      config: () => ({ jobs, destinations: new Map() }) as unknown as Config,
      now: () => 0,
    });
    for (const job of names) events.emit('firing.skipped', { job, at: 0, firings: 1, reason: '' });
    const skipped = parseExposition(await registry.metrics()).find(
      ({ name }) => name === 'sluice_firings_skipped_total',
    );
    expect(skipped?.samples).toHaveLength(1001);
    expect(skipped?.samples.find(({ labels }) => labels.job_name === 'other')?.value).toBe(200);
  });
});
