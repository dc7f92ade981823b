import { describe, expect, it } from 'vitest';
import { stateFolderIn } from '../../src/cli/hand-over/state-folder-in.ts';

const folderIn = (text: string, env = {}) => stateFolderIn(text, '/etc/sluice/sluice.yaml', env);

describe("the folder in which a sync looks for the daemon's socket", () => {
  it.each([
    ['', '/etc/sluice/sluice-state'],
    ['version: 1\nstate: ./own # mine\n', '/etc/sluice/own'],
    [`"state": '/var/lib/sluice'\n`, '/var/lib/sluice'],
    [`state: \${env:DATA:-/data}\n`, '/data'],
    ['{"state": "/data"}', '/data'],
    ['state: postgres://a:secret@db/rows\n', '/etc/sluice/sluice-cache'],
    ['state: postgres://a:secret@db/rows\ncache: /cache\n', '/cache'],
    [`state: postgres://a:\${file:/run/secrets/pg}@db/rows\ncache: "cache"\n`, '/etc/sluice/cache'],
    ['{"state": "postgres://a@db/rows"}', '/etc/sluice/sluice-cache'],
    ['{"cache": "/cache", "state": "postgres://a@db/rows"}', '/cache'],
  ])('is, for %j, %s', (text, folder) => {
    expect(folderIn(text)).toBe(folder);
  });

  it('follows a database in a variable', () => {
    const text = `state: \${env:STATE:-./own}\ncache: \${env:CACHE}\n`;
    expect(folderIn(text, { STATE: 'postgres://a@db/rows', CACHE: '/cache' })).toBe('/cache');
    expect(folderIn(text)).toBe('/etc/sluice/own');
  });

  it.each([
    'state: &x y\n',
    `state: \${file:place}\n`,
    'state: postgres://a@db/rows\ncache: *x\n',
    '{"state": 7}',
    '{',
  ])('is unknown for %j', (text) => {
    expect(folderIn(text)).toBeUndefined();
  });
});
