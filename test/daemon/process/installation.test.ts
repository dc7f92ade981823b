import { describe, expect, it, onTestFinished } from 'vitest';
import { Installation } from '../../../src/daemon/process/installation.ts';
import { quietLog } from '../../../src/lib/log.ts';
import type { Problem } from '../../../src/lib/problem.ts';
import { overdue, setUp, startDaemon } from '../rig.ts';

const started = '{"version":"1.0.0","content":"aa"}\n';

function installationOf(read: () => string | undefined) {
  const told: Problem[] = [];
  const installation = new Installation({ started, read, changed: (problem) => told.push(problem) });
  onTestFinished(() => installation.close());
  return { installation, told };
}

describe('the installed package, checked at run time', () => {
  it('counts as unchanged as long as its stamp is the same', () => {
    const { installation, told } = installationOf(() => started);
    expect(installation.look()).toBe(false);
    expect(installation.signal.aborted).toBe(false);
    expect(told).toEqual([]);
  });

  it('counts as changed if its stamp differs, which is reported once with the installed version', () => {
    const { installation, told } = installationOf(
      () => '{"version":"1.1.0","content":"bb","commit":"0123456789abcdef"}',
    );
    expect(installation.look()).toBe(true);
    expect(installation.look()).toBe(true);
    expect(told).toMatchObject([{ code: 'INSTALLATION_CHANGED', seen: '1.1.0 (commit 0123456789ab)' }]);
    expect(installation.signal.reason).toBe(told[0]);
  });

  it("counts as changed if it's missing or incomplete, because npm is replacing it", () => {
    expect(installationOf(() => undefined).installation.look()).toBe(true);
    expect(installationOf(() => '{"vers').installation.look()).toBe(true);
  });

  it("counts as unchanged while nothing can be read, so that a lack of file descriptors doesn't stop the daemon", () => {
    const { installation } = installationOf(() => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    });
    expect(installation.look()).toBe(false);
  });
});

describe('a daemon whose package is replaced', () => {
  it("leaves a run that fails because of the replacement to the next start, and doesn't start another run", async () => {
    const { config, job, source } = await setUp();
    let stamp = started;
    const { installation } = installationOf(() => stamp);
    source.says = async () => {
      stamp = '{"version":"1.1.0","content":"bb"}';
      throw new Error("Cannot find module '/usr/lib/node_modules/sluice/dist/chunks/csv-reader-1.js'");
    };
    const { hear, stop, runtime } = await startDaemon(config, {
      before: async (runtime) => {
        Object.assign(runtime, { installation });
        await overdue(job)(runtime);
      },
    });
    await hear('run.finished', { outcome: 'stopped' });
    await expect
      .poll(async () => (await runtime.store.deferredFirings.earliest()).get('orders'))
      .toBeLessThan(runtime.clock.now());
    expect(await runtime.store.runs.lasts()).toMatchObject([{ state: 'interrupted', code: 'INSTALLATION_CHANGED' }]);
    expect(source.asked).toBe(1);
    await stop();
  });

  it('leaves a firing whose run cannot begin because of the replacement to the next start, without an error', async () => {
    const { config, job, source } = await setUp();
    let stamp = started;
    const { installation } = installationOf(() => stamp);
    const errors: string[] = [];
    const log = { ...quietLog, error: (message: string) => errors.push(message) };
    const { daemon, runtime } = await startDaemon(config, {
      before: async (runtime) => {
        runtime.store.leases.take = async () => {
          stamp = '{"version":"1.1.0","content":"bb"}';
          throw new Error("Cannot find module './temporal-polyfill.js'");
        };
        Object.assign(runtime, { installation, log });
        await overdue(job)(runtime);
      },
    });
    await expect.poll(() => installation.signal.aborted).toBe(true);
    await daemon.stop('the package was replaced');
    expect(errors).toEqual([]);
    expect((await runtime.store.schedules.find(job.name))?.next_at).toBeLessThan(runtime.clock.now());
    expect(source.asked).toBe(0);
  });
});
