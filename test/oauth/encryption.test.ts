import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgetSecrets, redact } from '../../src/lib/redact.ts';
import { decrypt, encrypt } from '../../src/oauth/encryption.ts';
import { EncryptionKeys } from '../../src/oauth/keys.ts';
import { folderForTest } from './rig.ts';

const long = (letter: string) => letter.repeat(32);

describe("a login's stored tokens", () => {
  it('can be decrypted only with its key, and only for the same login', async () => {
    const keys = new EncryptionKeys({ current: long('a'), former: [] }, await folderForTest());
    const kept = encrypt('a token', 'acme', keys);
    expect(kept.encrypted).not.toContain('token');
    expect(decrypt(kept, 'acme', keys)).toBe('a token');
    expect(() => decrypt(kept, 'other', keys)).toThrow(expect.objectContaining({ code: 'LOGIN_DAMAGED' }));
    const bytes = Buffer.from(kept.encrypted, 'base64');
    bytes[bytes.length - 1]! ^= 1;
    const changed = { ...kept, encrypted: bytes.toString('base64') };
    expect(() => decrypt(changed, 'acme', keys)).toThrow(expect.objectContaining({ code: 'LOGIN_DAMAGED' }));
  });

  it('are never encrypted to the same bytes twice', async () => {
    const keys = new EncryptionKeys({ current: long('a'), former: [] }, await folderForTest());
    expect(encrypt('x', 'acme', keys).encrypted).not.toBe(encrypt('x', 'acme', keys).encrypted);
  });

  it('can be read after the key was replaced, as long as the previous key is still configured', async () => {
    const folder = await folderForTest();
    const kept = encrypt('a token', 'acme', new EncryptionKeys({ current: long('a'), former: [] }, folder));
    const replaced = new EncryptionKeys({ current: long('b'), former: [long('a')] }, folder);
    expect(decrypt(kept, 'acme', replaced)).toBe('a token');
    expect(encrypt('a token', 'acme', replaced).key_id).not.toBe(kept.key_id);
    const forgotten = new EncryptionKeys({ current: long('b'), former: [] }, folder);
    expect(() => decrypt(kept, 'acme', forgotten)).toThrow(expect.objectContaining({ code: 'LOGIN_KEY_UNKNOWN' }));
  });

  it('use a key file that is created when first needed and is readable only by its owner', async () => {
    const folder = await folderForTest();
    const keys = new EncryptionKeys({ former: [] }, folder);
    expect(keys.find('00000000')).toBeUndefined();
    expect(existsSync(keys.file)).toBe(false);
    const kept = encrypt('a token', 'acme', keys);
    expect(statSync(keys.file).mode & 0o777).toBe(0o600);
    const text = readFileSync(keys.file, 'utf8');
    expect(redact(text.trim())).toBe('[redacted]');
    chmodSync(keys.file, 0o644);
    expect(decrypt(kept, 'acme', new EncryptionKeys({ former: [] }, folder))).toBe('a token');
    expect(statSync(keys.file).mode & 0o777).toBe(0o600);
    forgetSecrets();
    new EncryptionKeys({ former: [] }, folder).find('00000000');
    expect(redact(text.trim())).toBe('[redacted]');
    rmSync(keys.file);
    expect(() => decrypt(kept, 'acme', keys)).toThrow(expect.objectContaining({ code: 'LOGIN_KEY_UNKNOWN' }));
    writeFileSync(keys.file, text);
    expect(decrypt(kept, 'acme', new EncryptionKeys({ current: long('n'), former: [] }, folder))).toBe('a token');
  });

  it("can't be encrypted with a key that is too short", async () => {
    const keys = new EncryptionKeys({ current: 'short', former: [] }, await folderForTest());
    expect(() => encrypt('x', 'acme', keys)).toThrow(expect.objectContaining({ code: 'LOGIN_KEY_SHORT' }));
  });
});
