import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Keys } from '../../src/oauth/keys.ts';
import { seal, unseal } from '../../src/oauth/seal.ts';
import { folderForTest } from './rig.ts';

const long = (letter: string) => letter.repeat(32);

describe('what is kept of a login', () => {
  it('can be read with its key, by the login that it was kept for alone', async () => {
    const keys = new Keys({ current: long('a'), former: [] }, await folderForTest());
    const kept = seal('a token', 'acme', keys);
    expect(kept.sealed).not.toContain('token');
    expect(unseal(kept, 'acme', keys)).toBe('a token');
    expect(() => unseal(kept, 'other', keys)).toThrow(expect.objectContaining({ code: 'LOGIN_DAMAGED' }));
    const bytes = Buffer.from(kept.sealed, 'base64');
    bytes[bytes.length - 1]! ^= 1;
    const changed = { ...kept, sealed: bytes.toString('base64') };
    expect(() => unseal(changed, 'acme', keys)).toThrow(expect.objectContaining({ code: 'LOGIN_DAMAGED' }));
  });

  it('never looks the same twice', async () => {
    const keys = new Keys({ current: long('a'), former: [] }, await folderForTest());
    expect(seal('x', 'acme', keys).sealed).not.toBe(seal('x', 'acme', keys).sealed);
  });

  it('is still read after the key was replaced, as long as the former one is given', async () => {
    const folder = await folderForTest();
    const kept = seal('a token', 'acme', new Keys({ current: long('a'), former: [] }, folder));
    const replaced = new Keys({ current: long('b'), former: [long('a')] }, folder);
    expect(unseal(kept, 'acme', replaced)).toBe('a token');
    expect(seal('a token', 'acme', replaced).key_id).not.toBe(kept.key_id);
    const forgotten = new Keys({ current: long('b'), former: [] }, folder);
    expect(() => unseal(kept, 'acme', forgotten)).toThrow(expect.objectContaining({ code: 'LOGIN_KEY_UNKNOWN' }));
  });

  it('uses a key file that is made when it is first needed, and for its owner alone', async () => {
    const folder = await folderForTest();
    const keys = new Keys({ former: [] }, folder);
    expect(keys.find('00000000')).toBeUndefined();
    expect(existsSync(keys.file)).toBe(false);
    const kept = seal('a token', 'acme', keys);
    expect(statSync(keys.file).mode & 0o777).toBe(0o600);
    chmodSync(keys.file, 0o644);
    expect(unseal(kept, 'acme', new Keys({ former: [] }, folder))).toBe('a token');
    expect(statSync(keys.file).mode & 0o777).toBe(0o600);
    const text = readFileSync(keys.file, 'utf8');
    rmSync(keys.file);
    expect(() => unseal(kept, 'acme', keys)).toThrow(expect.objectContaining({ code: 'LOGIN_KEY_UNKNOWN' }));
    writeFileSync(keys.file, text);
    expect(unseal(kept, 'acme', new Keys({ current: long('n'), former: [] }, folder))).toBe('a token');
  });

  it('refuses a key that is too short to be one', async () => {
    const keys = new Keys({ current: 'short', former: [] }, await folderForTest());
    expect(() => seal('x', 'acme', keys)).toThrow(expect.objectContaining({ code: 'LOGIN_KEY_SHORT' }));
  });
});
