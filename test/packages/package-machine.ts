import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readPages } from '../docs/command-lines.ts';
import { forTest, type Scope, until } from '../journey/process.ts';
import { adminKey, makeWorld, type World } from '../journey/world.ts';
import { bootMachine, type Machine } from '../systemd/machine.ts';
import { makePackages } from './make-packages.ts';

const key = `\${file:\${env:CREDENTIALS_DIRECTORY:-/etc/sluice/credentials}/api_key}`;

/** The lines in docs/operate.md that install this kind of package. */
export function installLines(kind: string): string[] {
  const blocks = readPages().find(({ file }) => file === 'docs/operate.md')!.blocks;
  return blocks
    .find(({ text }) => text.includes(kind))!
    .text.trim()
    .split('\n');
}

/** A booted Debian with the output of `npm run package` in /root/packages, and an embedded service for its daemon. */
export class PackageMachine {
  /** A folder for the test. The packages are in its folder `packages`. */
  readonly folder: string;
  readonly #machine: Machine;
  readonly #world: World;

  private constructor(folder: string, machine: Machine, world: World) {
    this.folder = folder;
    this.#machine = machine;
    this.#world = world;
  }

  /** Makes the packages and boots a Debian that also has some of Debian's own packages. */
  static async boot(scope: Scope, more: readonly string[] = []): Promise<PackageMachine> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-packages-'));
    scope(() => rm(folder, { recursive: true, force: true }));
    await makePackages(join(folder, 'packages'));
    const world = await makeWorld({ scope, serve: ['--no-limits'] });
    const machine = await bootMachine(async () => undefined, more);
    scope(() => machine.close());
    await cp(join(folder, 'packages'), join(machine.root, 'root/packages'), { recursive: true });
    return new PackageMachine(folder, machine, world);
  }

  /** The file name of the only package of a kind. */
  async package(kind: string): Promise<string> {
    const names = (await readdir(join(this.folder, 'packages'))).filter((name) => name.endsWith(kind));
    expect(names).toHaveLength(1);
    return names[0]!;
  }

  /** The path here of a file in the machine. */
  path(path: string): string {
    return join(this.#machine.root, path);
  }

  run(line: string) {
    return this.#machine.run(line);
  }

  /** The output of a command that succeeds. */
  async done(line: string): Promise<string> {
    const { code, text } = await this.run(`export DEBIAN_FRONTEND=noninteractive; ${line}`);
    expect({ line, code, text }).toMatchObject({ code: 0 });
    return text;
  }

  /** A property of the daemon's unit. */
  async show(name: string): Promise<string> {
    return (await this.done(`systemctl show --property=${name} --value sluice`)).trim();
  }

  /** Writes the files that an administrator writes: a key, a config and a source. */
  async addFiles(rows: string): Promise<void> {
    await writeFile(this.path('srv/orders.csv'), rows);
    await writeFile(this.path('root/api_key.txt'), adminKey);
    await writeFile(this.path('root/sluice.yaml'), this.configFor(this.#world.url));
  }

  configFor(url = this.#world.url): string {
    return JSON.stringify({
      state: `\${env:SLUICE_STATE:-/var/lib/sluice}`,
      // More requests than this test needs to poll the service, because those count too.
      destinations: { main: { url, api_key: key, requests_per_day: 50_000 } },
      sources: { files: { connector: 'file' } },
      jobs: {
        orders: {
          ...{ source: 'files', query: { path: '/srv/orders.csv' }, format: 'csv' },
          ...{ target: this.#world.instances.csv, schedule: 'every 1m' },
        },
      },
    });
  }

  /** Waits until the service shows these rows. */
  async shows(text: string): Promise<void> {
    const { csv } = this.#world.instances;
    await until(`the data source to show ${text}`, async () => (await this.#world.data(csv)) === text, {
      seen: async () => (await this.run('journalctl --unit=sluice --output=cat --no-pager')).text.slice(-4000),
    });
  }

  /**
   * Makes a payload owed whose rows exist nowhere else: the running daemon is sending it to a service that doesn't
   * respond.
   */
  async owe(rows: string): Promise<void> {
    const silent = createServer((request) => request.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    forTest(() => silent.closeAllConnections());
    const config = this.path('etc/sluice/sluice.yaml');
    await writeFile(config, this.configFor(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/api/1.0`));
    await writeFile(this.path('srv/orders.csv'), rows);
    const asked = once(silent, 'request');
    await this.done('systemctl restart sluice');
    await asked;
    silent.close();
    await writeFile(config, this.configFor());
    await rm(this.path('srv/orders.csv'));
  }

  /** Checks that the daemon survived an upgrade: it's active, it sends what was owed, and the config is unchanged. */
  async continues(rows: string): Promise<void> {
    expect(await this.show('ActiveState')).toBe('active');
    expect(await this.show('NRestarts')).toBe('0');
    await this.shows(rows);
    expect(await readFile(this.path('etc/sluice/sluice.yaml'), 'utf8')).toBe(this.configFor());
  }
}
