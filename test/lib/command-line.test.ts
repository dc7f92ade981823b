import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../src/lib/command-line.ts';
import { folderAdvice } from '../../src/state/engine/folder-advice.ts';
import fc, { runsOf } from '../property.ts';

/** The words into which a real shell splits a line. */
const wordsOf = (line: string) =>
  execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' }).split('\0');

describe('a suggested command line', () => {
  it('is parsed by a shell into the intended words', () => {
    const hard = [
      '/srv/Größe & Menge (alt)/st',
      "it's",
      '$HOME `id` "x"',
      'a\nb',
      '',
      '~',
      '~x',
      '*',
      '-x',
      'a;b',
      '#',
    ];
    expect(wordsOf(commandLine(...hard))).toEqual([...hard, '']);
    const texts = fc.array(
      fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => !text.includes('\0')),
      {
        minLength: 1,
        maxLength: 20,
      },
    );
    fc.assert(
      fc.property(texts, (words) => {
        const sound = words.map((word) => Buffer.from(word, 'utf8').toString('utf8'));
        expect(wordsOf(commandLine(...sound))).toEqual([...sound, '']);
      }),
      { numRuns: runsOf(100) },
    );
  });

  it('has no quotes if none are needed', () => {
    expect(commandLine('chmod', 600, '/var/lib/sluice/Größe-1.db')).toBe('chmod 600 /var/lib/sluice/Größe-1.db');
  });
});

describe('advice about an unusable state folder', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice advice & '));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const own = process.getuid!();
  const adviceFor = (path: string, uid = own, code = 'EACCES') =>
    folderAdvice(path, code, uid).split(/runs Sluice[^:]*: /)[1];

  it('suggests `chmod` for the folder whose mode is wrong', () => {
    chmodSync(folder, 0);
    expect(wordsOf(adviceFor(folder)!)).toEqual(['chmod', 'u+rwx', folder, '']);
    chmodSync(folder, 0o500);
    expect(wordsOf(adviceFor(join(folder, 'st', 'payloads'))!)).toEqual(['chmod', 'u+rwx', folder, '']);
    chmodSync(folder, 0o700);
  });

  it('suggests the right owner if the folder belongs to another user', () => {
    mkdirSync(join(folder, 'st'));
    const other = own + 4711;
    expect(wordsOf(adviceFor(join(folder, 'st'), other)!)).toEqual(['chown', '-R', `${other}`, join(folder, 'st'), '']);
    const words = ['install', '-d', '-o', `${other}`, '-m', '700', join(folder, 'new'), ''];
    expect(wordsOf(adviceFor(join(folder, 'new'), other)!)).toEqual(words);
  });

  it.runIf(own === 0)('suggests running sluice as the user who owns the state', () => {
    chownSync(folder, 65_534, 65_534);
    writeFileSync(join(folder, 'sluice.db'), '');
    const advice = folderAdvice(folder, 'EACCES', 1000);
    expect(advice).toContain("sudo -u '#65534' sluice");
    expect(advice).not.toContain('chown');
  });

  it.runIf(own === 0)('makes the folder usable if root follows it', () => {
    const uid = 65_534;
    const canWrite = (path: string) => {
      const tried = () => execFileSync('touch', [join(path, 'x')], { uid, gid: uid, stdio: 'ignore' });
      expect(tried).not.toThrow();
    };
    chmodSync(folder, 0o755);
    for (const prepare of [
      (path: string) => mkdirSync(path),
      () => undefined,
      (path: string) => {
        mkdirSync(path);
        chownSync(path, uid, uid);
        chmodSync(path, 0);
      },
    ]) {
      const path = join(folder, `${prepare}`.length.toString());
      prepare(path);
      execFileSync('sh', ['-c', adviceFor(path, uid)!]);
      canWrite(path);
    }
  });

  it('suggests no command if none would help', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(adviceFor(join(folder, 'file'))).toBeUndefined();
    expect(adviceFor(folder, own, 'EROFS')).toBeUndefined();
  });
});
