import { execFile, spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { journalPrefix } from '../../src/lib/journal.ts';

/**
 * Starts the command with its standard error in a file and JOURNAL_STREAM naming that file, as systemd does with the
 * journal.
 */
async function errorsOf(args: readonly string[], { isJournal = true } = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-journal-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = await open(join(folder, 'journal'), 'w');
  const { dev, ino } = fstatSync(file.fd);
  const env = { ...process.env, JOURNAL_STREAM: `${dev}:${isJournal ? ino : ino + 1}` };
  const child = spawn(process.execPath, ['src/cli/sluice.js', ...args], { env, stdio: ['ignore', 'ignore', file.fd] });
  await new Promise((resolve) => child.on('close', resolve));
  await file.close();
  return readFile(join(folder, 'journal'), 'utf8');
}

it("each line of an error message starts with the journal's error priority", async () => {
  const lines = (await errorsOf(['status', '-c', '/nowhere/sluice.yaml'])).trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line).toMatch(/^<3>/);
});

it("a stream that isn't connected to the journal has no priorities", async () => {
  expect(await errorsOf(['status', '-c', '/nowhere/sluice.yaml'], { isJournal: false })).toMatch(/^CONFIG_/);
});

it('each log line starts with the priority of its level', async () => {
  const script = `
    import { fstatSync } from 'node:fs';
    const { dev, ino } = fstatSync(1);
    process.env.JOURNAL_STREAM = dev + ':' + ino;
    const { openLog } = await import('./src/lib/log.ts');
    const log = openLog({ level: 'debug', descriptor: 1 });
    log.debug('a'); log.info('b', { level: 50 }); log.warn('c'); log.with({ job: 'x' }).error('d');`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.slice(0, 3))).toEqual(['<7>', '<6>', '<4>', '<3>']);
  expect(JSON.parse(lines[3]!.slice(3))).toMatchObject({ level: 50, job: 'x', msg: 'd' });
});

it("the journal isn't detected without systemd", () => {
  expect(journalPrefix(2, {})).toBeUndefined();
  expect(journalPrefix(99, { JOURNAL_STREAM: '1:2' })).toBeUndefined();
});
