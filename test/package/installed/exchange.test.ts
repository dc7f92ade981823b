import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { adminKey, makeFolder, makeWorld, type Program, until } from '../../journey/world.ts';
import { npm } from './npm.ts';

/** EX_TEMPFAIL; see the table of exit codes in docs/cli.md. */
const restart = 75;

describe.each(inject('nodes'))('a daemon under Node $major whose package is replaced', ({ path: node }) => {
  it('exits with a code that causes a restart, and the next process delivers the payload', async () => {
    const prefix = join(await makeFolder(), 'global');
    await mkdir(prefix);
    // The package's own Node is large, so it's left out; the Node under test runs the package.
    const exchangeBy = (tarball: string) =>
      npm(['install', '--global', '--omit=optional', '--prefix', prefix, tarball]);
    await exchangeBy(inject('tarball'));
    const program: Program = { node, door: join(prefix, 'lib/node_modules/sluice/src/cli/sluice.js') };
    const world = await makeWorld({
      program: { node, door: join(inject('installed'), 'src/cli/sluice.js') },
      // The test requests the data until it's there. If limits applied, these requests would use up the daemon's.
      serve: ['--no-limits'],
    });
    const home = await world.home();
    await home.write('rows.csv', 'id,name\n1,before\n');
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { folder: { connector: 'file' } },
      jobs: {
        rows: {
          source: 'folder',
          query: 'rows.csv',
          format: 'csv',
          target: { instance: world.instances.csv },
          schedule: { every: '1m' },
        },
      },
    });
    const daemon = home.start(['run'], { program, serves: true });
    await until('the daemon to start', () => daemon.output().includes('daemon.started'));
    await exchangeBy(inject('otherTarball'));
    const ended = await daemon.ended;
    expect(ended).toMatchObject({ code: restart, signal: null });
    const lines = ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; message?: string });
    expect(lines.find(({ msg }) => msg === 'daemon.outdated')?.message).toContain(
      'installed while this one was running',
    );
    expect(lines.at(-1)?.msg).toBe('daemon.stopped');
    expect(ended.stdout).not.toContain('Cannot find module');

    await home.write('rows.csv', 'id,name\n1,after\n');
    const next = home.start(['run'], { program, serves: true });
    await until('the new build to read the source', () => next.output().includes('read by another build'));
    await until(
      'the new rows to be shown',
      async () => (await world.data(world.instances.csv)) === 'id,name\n1,after\n',
    );
    next.child.kill('SIGTERM');
    expect((await next.ended).code).toBe(0);
  });
});
