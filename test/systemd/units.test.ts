import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forTest, until } from '../journey/process.ts';
import { adminKey, forSuite, makeWorld, type World } from '../journey/world.ts';
import { bootMachine, installPacked, type Machine, noMachine } from './machine.ts';

const units = resolve(import.meta.dirname, '../../deploy/systemd');
const missing = noMachine();
const key = `\${file:\${env:CREDENTIALS_DIRECTORY:-/etc/sluice/credentials}/api_key}`;

// The tests share one machine and form a sequence: each one continues where the previous one ended.
describe.skipIf(missing !== undefined)(
  `the units under systemd${missing === undefined ? '' : ` (NOT RUN: ${missing})`}`,
  () => {
    const scope = forSuite();
    let world: World;
    let machine: Machine;

    const file = (path: string, text: string) => writeFile(join(machine.root, path), text);
    const done = async (line: string): Promise<string> => {
      const { code, text } = await machine.run(line);
      expect({ line, code, text }).toMatchObject({ code: 0 });
      return text;
    };
    const show = async (name: string, unit = 'sluice') =>
      (await done(`systemctl show --property=${name} --value ${unit}`)).trim();
    const journal = (flags = '') => done(`journalctl --unit=sluice --output=cat --no-pager ${flags}`);
    const config = (jobs: object, url = world.url) =>
      file(
        'etc/sluice/sluice.yaml',
        JSON.stringify({
          state: `\${env:SLUICE_STATE:-/var/lib/sluice}`,
          // The test's own requests, which wait for the rows below, count for the same account.
          destinations: { main: { url, api_key: key, requests_per_day: 1_000_000 } },
          sources: { files: { connector: 'file' } },
          jobs,
        }),
      );
    const job = (path: string, target: string, more: object = {}) => ({
      ...{ source: 'files', query: { path }, format: 'csv', target, schedule: 'every 1m', ...more },
    });
    const orders = () => job('/srv/orders.csv', world.instances.csv);

    beforeAll(async () => {
      world = await makeWorld({ scope, serve: ['--no-limits'] });
      machine = await bootMachine(installPacked);
    });
    afterAll(() => machine?.close());

    it("are installed as docs/operate.md says, and the daemon notifies systemd that it's ready", async () => {
      await done('install -d -m 700 /etc/sluice/credentials');
      await file('etc/sluice/credentials/api_key', adminKey);
      await file('srv/orders.csv', 'id\n1\n');
      await config({ orders: orders() });
      for (const name of ['sluice.service', 'sluice-sync.service', 'sluice-sync.timer']) {
        await file(`etc/systemd/system/${name}`, await readFile(join(units, name), 'utf8'));
      }
      await done('systemctl daemon-reload && systemctl enable --now sluice');
      expect(await show('ActiveState')).toBe('active');
      expect(await show('StatusText')).toBe('1 job active');
      await until('the rows to be shown', async () => (await world.data(world.instances.csv)) === 'id\n1\n');
    });

    it('apply a changed config on reload, or report its errors and keep the old config active', async () => {
      await config({ orders: orders(), lost: job('/srv/lost.csv', world.instances.json, { format: 'json' }) });
      await done('systemctl reload sluice');
      expect(await show('StatusText')).toBe('2 jobs active');
      await config({ orders: { ...orders(), formt: 'csv' } });
      expect((await machine.run('systemctl reload sluice')).code).not.toBe(0);
      expect(await journal()).toMatch(/CONFIG_UNKNOWN_OPTION.*formt/);
      expect(await show('StatusText')).toMatch(/^2 jobs active; .*refused/);
      expect(await show('ActiveState')).toBe('active');
    });

    it('write journal lines with their priority', async () => {
      await until('a run to fail', async () => (await journal('--priority=err')).includes('"job":"lost"'));
      const errors = await journal('--priority=err');
      expect(errors).not.toContain('payload.delivered');
      expect(await journal('--priority=info')).toContain('payload.delivered');
    });

    it('report that a reload still uses the old value of a replaced credential', async () => {
      await config({ orders: orders() });
      await file('etc/sluice/credentials/api_key', adminKey);
      await done('systemctl reload sluice');
      expect(await journal()).toContain("are those from the unit's start; to renew them, run systemctl restart");
    });

    it('let the sync unit run next to the daemon', async () => {
      await done('systemctl start sluice-sync');
      expect(await show('Result', 'sluice-sync')).toBe('success');
      expect(await show('ActiveState')).toBe('active');
    });

    it('deliver the owed payload after the daemon is stopped during the upload and restarted', async () => {
      const silent = createServer((request) => request.resume()).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      forTest(() => silent.closeAllConnections());
      await config({ orders: orders() }, `http://127.0.0.1:${(silent.address() as AddressInfo).port}/api/1.0`);
      await file('srv/orders.csv', 'id\n2\n');
      const asked = once(silent, 'request');
      await done('systemctl restart sluice');
      await asked;
      await done('systemctl stop sluice');
      expect(await show('Result')).toBe('success');
      expect(await show('ExecMainStatus')).toBe('0');
      silent.close();
      await config({ orders: orders() });
      await done('systemctl start sluice');
      const isThere = async () => (await world.data(world.instances.csv)) === 'id\n2\n';
      await until('the rows to be shown', isThere, { seen: async () => (await journal()).slice(-4000) });
    });

    it('restart a daemon that hangs', async () => {
      const pid = await show('MainPID');
      await done(`kill -STOP ${pid}`);
      await until('systemd to restart the daemon', async () => (await show('NRestarts')) !== '0');
      await until(
        'the new daemon to be active',
        async () => (await show('ActiveState')) === 'active' && (await show('MainPID')) !== pid,
      );
      expect(await journal()).toContain('daemon.started');
    });
  },
);
