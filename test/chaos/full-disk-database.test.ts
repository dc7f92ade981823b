import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { forTest } from '../journey/process.ts';
import { adminKey, forSuite, type Running, until } from '../journey/world.ts';
import { describeWithServer } from '../servers/describe.ts';
import { openGate } from '../servers/gate.ts';
import { clear, fill, mountSmall, noSmallDisk } from './small-disk.ts';
import { openTheatre, setStage, type Theatre } from './stage.ts';

const rows = 20_000;
const older = 'id\n0\n';
const whole = `id\n${Array.from({ length: rows }, (_, i) => `${i + 1}\n`).join('')}`;
const says = (running: Running, text: string) => until(text, () => running.output().includes(text));
const missing = noSmallDisk();

if (missing !== undefined) {
  process.stderr.write(`NOT RUN: a full disk while a daemon reads a database: ${missing}\n`);
  it.skip(`a full disk while a daemon reads a database (not run: ${missing})`, () => {});
} else
  describeWithServer({ servers: 'PostgreSQL' }, 'a disk that fills up while a daemon reads a database', (server) => {
    const scope = forSuite();
    let theatre: Theatre;
    beforeAll(async () => {
      theatre = await openTheatre(scope);
    });

    it("makes the daemon disconnect from the server, and delays the delivery of all rows until there's space", async () => {
      const stage = await setStage(theatre);
      const { home, world, instance } = stage;
      expect(mountSmall(stage, '6m')).toBe(true);
      const gate = await openGate(server().port, 50_000, forTest);
      const configure = (query: string, port: number) =>
        home.config({
          keep: { payloads: 0 },
          disk: { free_megabytes: 0 },
          destinations: { main: { url: world.url, api_key: adminKey } },
          sources: { shop: { connector: 'db', url: server().url.replace(/:\d+\//, `:${port}/`) } },
          jobs: { rows: { source: 'shop', query, format: 'csv', target: instance, schedule: '0 0 1 1 *' } },
        });
      await configure('select 0 as id', server().port);
      expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered' }]);
      const first = home.start(['run', '--log', 'debug'], { serves: true });
      await says(first, 'daemon.started');
      first.child.kill('SIGTERM');
      await first.ended;

      await configure(`select generate_series(1, ${rows}) as id`, gate.port);
      const nextYear = { preload: ['shifted-clock'], env: { CLOCK_SHIFT_MS: String(366 * 86_400_000) } };
      const daemon = home.start(['run', '--log', 'debug'], { serves: true, ...nextYear });
      await gate.held;
      await fill(stage);
      gate.release();
      await until('the daemon to report the failure', () =>
        /STATE_FULL|DISK_FULL|firing\.deferred/.test(daemon.output()),
      );
      expect(await world.data(instance)).toBe(older);
      const client = new pg.Client(server().url);
      await client.connect();
      const left = "select from pg_stat_activity where application_name = 'sluice'";
      await until('the database connections to close', async () => (await client.query(left)).rowCount === 0);
      await client.end();

      await clear(stage);
      await says(daemon, 'payload.delivered');
      expect(await world.data(instance)).toBe(whole);
      daemon.child.kill('SIGTERM');
      expect(await daemon.ended).toMatchObject({ code: 0 });
    });
  });
