import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { Canaries } from './canaries.ts';
import type { Home } from './home.ts';
import { adminKey, forSuite, makeWorld, until, type World } from './world.ts';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope });
});

/** All bytes below a folder. */
function bytesBelow(folder: string): string {
  const names = readdirSync(folder, { recursive: true }) as string[];
  const files = names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
  return files.map((path) => readFileSync(path, 'latin1')).join('\n');
}

const commands = [
  ...['check', 'check --json', 'config show', 'config show --json', 'plan', 'doctor', 'doctor --json', 'schedules'],
  ...['sync --json --log debug', 'status', 'status --json', 'health', 'history', 'explain orders', 'audit'],
  ...['state show', 'alerts', 'logins', 'quarantine', 'dead', 'reload', 'backup copy', 'restore copy'],
];

describeWithServer({ servers: 'PostgreSQL' }, "the password of a state's database", (server) => {
  /** A user whose state belongs to a role with this password on the server. */
  async function openHome(canaries: Canaries, name: string): Promise<{ home: Home; url: string }> {
    const { url, port, database } = server();
    const password = canaries.odd(name);
    const client = new pg.Client(url);
    await client.connect();
    await client.query(`create role ${name} login password ${pg.escapeLiteral(password)}`);
    await client.query(`create schema ${name} authorization ${name}`);
    await client.end();
    return {
      home: await world.home(),
      url: `postgres://${name}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}?schema=${name}`,
    };
  }

  async function configure(home: Home, state: string): Promise<void> {
    await home.write('orders.csv', 'id\n1\n');
    await home.config({
      state,
      login_key: 'key-for-logins-'.repeat(3),
      monitor: { port: 0 },
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { files: { connector: 'file' } },
      jobs: {
        orders: {
          source: 'files',
          query: { path: join(home.folder, 'orders.csv') },
          format: 'csv',
          target: await world.instance(),
          schedule: 'every 1m',
        },
      },
    });
  }

  it('never appears in output, logs, pages, the cache or a backup', async () => {
    const canaries = new Canaries();
    const { home, url } = await openHome(canaries, 'leaky');
    await configure(home, url);
    const said = new Map<string, string>();
    for (const command of commands) {
      const { code, stdout, stderr } = await home.sluice(command.split(' '), { cwd: home.folder });
      said.set(`${command} (${code})`, `${stdout}\n${stderr}`);
    }
    expect([...said.keys()]).toContain('sync --json --log debug (0)');
    const daemon = home.start(['run', '--log', 'debug'], { serves: true });
    const says = (text: string) => until(text, () => daemon.output().includes(text), { seen: daemon.output });
    await says('daemon.started');
    await says('monitor.listening');
    const monitor = /"url":"(http[^"]+)","msg":"monitor.listening"/.exec(daemon.output())![1]!;
    for (const path of ['/', '/metrics', '/readyz']) said.set(path, await (await fetch(`${monitor}${path}`)).text());
    const wrong = url.replace('@', `${canaries.core('another password')}@`);
    await configure(home, wrong);
    daemon.child.kill('SIGHUP');
    await says('config.refused');
    for (const command of ['sync', 'status', 'doctor', 'run']) {
      const { code, stdout, stderr } = await home.sluice([command]);
      said.set(`${command} with a wrong password (${code})`, `${stdout}\n${stderr}`);
    }
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    said.set('run', daemon.output());
    const files = readdirSync(home.folder).filter((name) => statSync(join(home.folder, name)).isDirectory());
    expect(files).toContain('copy');
    for (const name of files) said.set(name, bytesBelow(join(home.folder, name)));
    expect([...said].flatMap(([where, text]) => canaries.in(text).map((place) => `${place} in ${where}`))).toEqual([]);
    expect([...said.values()].join('\n')).toContain('STATE_REFUSED');
  });
});
