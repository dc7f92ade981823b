import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ourselves, processStateOf } from '../../src/lib/process-identity.ts';

const run = promisify(execFile);
const library = new URL('../../src/lib/', import.meta.url).href;

/** Creates a PID namespace whose first process is process 1. Any user can do this in a user namespace. */
const apart = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'];

describe("a process's state", () => {
  it('is looked up by PID and start time, because PIDs are reused', () => {
    expect(processStateOf(ourselves)).toBe('alive');
    expect(processStateOf({ ...ourselves, start: `${ourselves.start}1` })).toBe('dead');
    expect(processStateOf({ ...ourselves, pid: 2 ** 22 + 1 })).toBe('dead');
  });

  it("doesn't depend on the host name, which may change at any time", () => {
    expect(processStateOf({ ...ourselves, host: 'localhost' })).toBe('alive');
  });

  it("can't be determined in another container or on another machine, whatever the PID", () => {
    expect(processStateOf({ ...ourselves, space: 'pid:[1]', pid: 1 })).toBe('unknown');
    expect(processStateOf({ ...ourselves, space: 'pid:[1]', pid: 2 ** 22 + 1 })).toBe('unknown');
    expect(processStateOf({ ...ourselves, host: 'elsewhere', boot: 'another' })).toBe('unknown');
  });

  it('is `dead` if the machine has restarted', () => {
    expect(processStateOf({ ...ourselves, boot: 'earlier', start: `${ourselves.start}1` })).toBe('dead');
    expect(processStateOf({ ...ourselves, boot: 'earlier', space: 'pid:[1]' })).toBe('dead');
  });

  it('is `unknown` and not `dead` if one boot has two IDs, as with systemd-nspawn', () => {
    expect(processStateOf({ ...ourselves, boot: 'made up' })).toBe('unknown');
  });

  it("can't be determined if the system doesn't report the process's start time", () => {
    expect(processStateOf({ ...ourselves, start: '' })).toBe('unknown');
  });

  it("isn't read from another namespace's /proc, where PIDs differ", async ({ skip }) => {
    // The kernel doesn't allow this in a chroot, and some machines don't allow it for ordinary users.
    const refusal = await run('unshare', [...apart, 'true']).then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (refusal !== undefined) return skip(`this user may not make a namespace: ${refusal}`);
    const script = `
      const { processStateOf, ourselves } = await import('${library}process-identity.ts');
      const { lookUpProcess } = await import('${library}process-table.ts');
      const { spawn } = await import('node:child_process');
      const child = spawn('sleep', ['100']);
      const other = { ...ourselves, pid: child.pid, start: '123' };
      console.log(JSON.stringify([lookUpProcess(child.pid), processStateOf(other), lookUpProcess(2 ** 22 + 1)]));
      child.kill();
    `;
    const { stdout } = await run('unshare', [...apart, process.execPath, '--input-type=module', '-e', script]);
    expect(JSON.parse(stdout)).toEqual(['hidden', 'unknown', 'none']);
  });
});
