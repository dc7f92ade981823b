import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { start } from '../../journey/process.ts';
import { adminKey, makeFolder, makeWorld, type Program, until } from '../../journey/world.ts';

const installed = inject('installed');
const commands = (await readdir(join(installed, 'dist/src/cli/commands'))).map((file) => basename(file, '.js')).sort();

/** One real call of each command with its exit code and output. In this order, each command has something to do. */
const calls: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
  [['init', 'other.yaml'], 0, /Wrote .*other\.yaml/],
  [['check', '--connect'], 0, /folder/],
  [['apply', '--yes'], 0, /create "Rows"/],
  [['config', 'show', '--file-on-disk'], 0, /rows\.csv/],
  [['sync', 'rows'], 0, /delivered/],
  [['sync', 'rows'], 0, /unchanged/],
  [['status'], 0, /up to date|data as of/],
  [['explain', 'rows'], 0, /up to date/],
  [['history'], 0, /delivered/],
  [['state', 'show'], 0, /No job has/],
  [['quarantine'], 0, /No quarantined payloads/],
  [['dead'], 0, /No dead payloads/],
  [['alerts'], 0, /No open alerts/],
  [['logins'], 0, /No source/],
  [['sources'], 0, /folder +file /],
  [['discover', 'folder'], 0, /rows\.csv/],
  [['completion', 'bash'], 0, /complete -o default/],
  [['login', 'folder'], 2, /CLI_NO_LOGIN/],
  [['schedules'], 0, /rows/],
  [['plan'], 0, /main/],
  [['simulate', '--days', '1'], 0, /simulated/],
  [['health'], 1, /no daemon/],
  [['rollback', 'rows', '--list'], 0, /rows|run/],
  [['resume', 'rows'], 0, /rows/],
  [['backfill', 'rows', '--from', '2026-01-01', '--to', '2026-01-02'], 2, /rows/],
  [['audit'], 0, /./],
  [['backup', 'copy'], 0, /Backed up/],
  [['restore', 'copy', '--replace'], 0, /Restored/],
  [['connectors', 'list'], 0, /simple_rest/],
  [['connectors', 'describe', 'db'], 0, /PostgreSQL/],
  [['connectors', 'scaffold', 'desk'], 0, /Wrote/],
  [['connectors', 'test', 'my-connectors/desk.mts'], 0, /desk passes all checks/],
];

/** Commands that other tests in this suite or separate tests below call. */
const elsewhere = ['demo', 'doctor', 'reload', 'run', 'serve'];

describe.each(inject('nodes'))('the installed package under Node $major', ({ path: node }) => {
  const program: Program = { node, door: join(installed, 'src/cli/sluice.js') };

  it('shows help for every command', async () => {
    const cwd = await makeFolder();
    expect(commands.length).toBeGreaterThan(20);
    for (const command of commands) {
      const { code, stdout } = await start([command, '--help'], { program, cwd }).ended;
      expect({ command, code, stdout }).toEqual({ command, code: 0, stdout: expect.stringMatching(/^Usage: sluice /) });
    }
  });

  it('runs every command, with the expected exit code and output', async () => {
    const world = await makeWorld({ program, serve: ['--no-limits'] });
    const home = await world.home();
    await home.write('rows.csv', 'id,name\n1,a\n');
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { folder: { connector: 'file' } },
      jobs: {
        rows: {
          source: 'folder',
          query: 'rows.csv',
          target: { datasource: { name: 'Rows', format: 'csv' } },
          schedule: '0 6 * * *',
        },
      },
    });
    for (const [args, code, says] of calls) {
      const ended = await home.sluice(args, { program, cwd: home.folder });
      const said = ended.stdout + ended.stderr;
      expect({ args, code: ended.code, said }).toEqual({ args, code, said: expect.stringMatching(says) });
    }
    expect([...new Set([...calls.map(([[name]]) => name), ...elsewhere])].sort()).toEqual(commands);
  });

  it('runs the daemon with its status page, metrics and health check', async () => {
    const world = await makeWorld({ program });
    const home = await world.home();
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { folder: { connector: 'file' } },
      jobs: {},
    });
    const daemon = home.start(['run', '--monitor', '127.0.0.1:0'], { program, serves: true });
    await until('the daemon to start', () => daemon.output().includes('daemon.started'));
    const url = /"url":"([^"]+)"/.exec(daemon.output())?.[1];
    for (const path of ['/', '/healthz', '/readyz']) expect((await fetch(url + path)).status, path).toBe(200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^sluice_build_info\{version="[\d.]+",commit="[^"]+",node="v\d[^"]*"\} 1$/m);
    expect(await home.sluice(['health'], { program })).toMatchObject({ code: 0 });
    expect((await home.sluice(['doctor'], { program })).stdout).toMatch(/versions +Sluice .* Node \d/);
    expect(await home.sluice(['reload'], { program })).toMatchObject({
      code: 0,
      stdout: 'Reloaded: 0 jobs active.\n',
    });
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });
});
