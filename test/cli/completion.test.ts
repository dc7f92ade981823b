import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { candidates } from '../../src/cli/completion/candidates.ts';
import { configNames } from '../../src/cli/completion/config-names.ts';
import { makeFolder, start } from '../journey/process.ts';
import { wholeProgram } from './program.ts';

const door = new URL('../../src/cli/sluice.js', import.meta.url).pathname;
const config = `
sources: {shop: {connector: db, url: "\${env:NOT_SET}"}}
jobs: {orders: {source: shop}, order-lines: {source: shop}}
`;

async function folderWithConfig(name = 'sluice.yaml'): Promise<string> {
  const cwd = await makeFolder();
  await writeFile(join(cwd, name), config);
  return cwd;
}

async function wordsFor(...line: string[]): Promise<string[]> {
  const namesOf = configNames(join(await folderWithConfig(), 'sluice.yaml'));
  const given = { before: line.slice(0, -1), current: line.at(-1)!, namesOf };
  return candidates(await wholeProgram(), given).map(({ word }) => word);
}

describe('completion', () => {
  it.each([
    [['sy'], ['sync']],
    [['quarantine', 'a'], ['approve']],
    [
      ['sync', ''],
      ['orders', 'order-lines'],
    ],
    [['sync', 'orders', 'order-'], ['order-lines']],
    [['discover', ''], ['shop']],
    [['explain', 'orders'], ['orders']],
    [
      ['sync', '--d'],
      ['--dry-run', '--diff'],
    ],
    [
      ['run', '--log', ''],
      ['debug', 'info', 'warn', 'error', 'silent'],
    ],
    // Files are offered for options that have no choices and for arguments that aren't names in the config.
    [['sync', '--to', ''], []],
    [['backup', ''], []],
    [['resume', 'orders', ''], []],
  ])('of %j offers %j', async (line, words) => {
    expect((await wordsFor(...line)).sort()).toEqual([...words].sort());
  });

  it('offers no names and reports no error if the config is missing or broken', async () => {
    const cwd = await makeFolder();
    await writeFile(join(cwd, 'sluice.yaml'), 'jobs: [');
    for (const file of ['sluice.yaml', 'none.yaml']) {
      const words = ['completion', 'words', '--', 'sync', '--config', file, ''];
      expect(await start(words, { cwd }).ended).toMatchObject({ code: 0, stdout: '', stderr: '' });
    }
  });

  it('works in bash, and uses the config named on the command line', async () => {
    const cwd = await folderWithConfig('other.yaml');
    await mkdir(join(cwd, 'bin'));
    await writeFile(join(cwd, 'bin/sluice'), `#!/bin/sh\nexec "${process.execPath}" "${door}" "$@"\n`, { mode: 0o755 });
    const script = `eval "$(sluice completion bash)"
      try() { COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _sluice; echo "\${COMPREPLY[*]}"; }
      try sluice sync -c other.yaml ''
      try sluice sync ''
      try sluice stat`;
    const env = { ...process.env, PATH: `${join(cwd, 'bin')}:${process.env.PATH}` };
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { cwd, env });
    expect({ stdout, stderr }).toEqual({ stdout: 'orders order-lines\n\nstatus state\n', stderr: '' });
  });

  it.each(['bash', 'zsh', 'fish'])('has a script for %s', async (shell) => {
    const { code, stdout } = await start(['completion', shell]).ended;
    expect({ code, asks: stdout.includes('sluice completion words -- ') }).toEqual({ code: 0, asks: true });
  });
});
