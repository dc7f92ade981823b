import { cp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { makeFolder, makeWorld, type Program } from '../../journey/world.ts';

const installed = inject('installed');

describe.each(inject('nodes'))('the installed package under Node $major', ({ path: node }) => {
  it("reports a missing part of itself as an incomplete installation, never as an error in the user's file or config", async () => {
    const broken = join(await makeFolder(), 'broken');
    await cp(join(installed, '../..'), broken, { recursive: true });
    const chunks = join(broken, 'node_modules/sluice/dist/chunks');
    const archive = (await readdir(chunks)).filter((name) => name.startsWith('yauzl-'));
    expect(archive).toHaveLength(1);
    await rm(join(chunks, archive[0]!));
    await rm(join(broken, 'node_modules/iconv-lite'), { recursive: true });
    const world = await makeWorld();
    const home = await world.home();
    await home.write('a.zip', 'PK\u0003\u0004');
    await home.write('b.csv', 'a\n1\n');
    const jobOf = (query: object) => ({
      source: 'folder',
      query,
      format: 'csv',
      target: { instance: world.instances.csv },
    });
    const configWith = (job: object) =>
      home.config({
        destinations: { main: { url: world.url, api_key: 'ab'.repeat(20) } },
        sources: { folder: { connector: 'file' } },
        jobs: { job },
      });
    const other: Program = { node, door: join(broken, 'node_modules/sluice/src/cli/sluice.js') };
    for (const query of [{ path: 'a.zip' }, { path: 'b.csv', encoding: 'cp437' }]) {
      await configWith(jobOf(query));
      for (const command of [['sync'], ['sync', '--dry-run']]) {
        const { code, stdout, stderr } = await home.sluice(command, { program: other });
        const text = stdout + stderr;
        expect(text).toContain('INSTALLATION_INCOMPLETE: The installation of Sluice is incomplete');
        expect(text).not.toMatch(/damaged|RECORDS_ZIP|CONFIG_/);
        expect(code).toBe(70);
      }
    }
  });

  it('reports any missing file of its own the same way, even one that it needs at startup', async () => {
    const broken = join(await makeFolder(), 'broken');
    await cp(join(installed, '../..'), broken, { recursive: true });
    const dist = join(broken, 'node_modules/sluice/dist');
    const hot = (await readdir(join(dist, 'chunks'))).find((name) => name.startsWith('hot-'))!;
    const home = await (await makeWorld()).home();
    const program: Program = { node, door: join(broken, 'node_modules/sluice/src/cli/sluice.js') };
    for (const file of ['src/cli/hand-over/client.js', 'src/cli/start-built.js', 'src/cli/main.js', `chunks/${hot}`]) {
      await rename(join(dist, file), join(dist, 'away'));
      const { code, stderr } = await home.sluice(['sync'], { program });
      await rename(join(dist, 'away'), join(dist, file));
      expect(stderr).toMatch(
        /^INSTALLATION_INCOMPLETE: The installation of Sluice is incomplete: Cannot find module '.+'\n {2}next {5}reinstall the package/,
      );
      expect(stderr).not.toContain('    at ');
      expect(code).toBe(70);
    }
  });
});
