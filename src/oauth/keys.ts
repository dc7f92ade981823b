import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { SealKeys } from '../config/config.ts';
import { commandLine } from '../lib/command-line.ts';
import { createPrivateFile, openPrivateFile } from '../lib/private-file.ts';
import { Problem } from '../lib/problem.ts';
import { registerSecret } from '../lib/redact.ts';

/** A key for AES-256-GCM, with an ID that is stored with each encrypted string. */
export interface EncryptionKey {
  readonly id: string;
  readonly bytes: Buffer;
}

const minKeyCharacters = 32;

/** The encryption keys: the configured ones, and the key file in the state folder. */
export class EncryptionKeys {
  readonly #given: SealKeys;
  /** The keys by the strings that they're derived from. The daemon looks for a key whenever it polls a waiting job. */
  readonly #derived = new Map<string, EncryptionKey>();
  /** The key file's path, whether or not the file exists. */
  readonly file: string;

  constructor(given: SealKeys, folder: string) {
    this.#given = given;
    this.file = join(folder, 'login.key');
  }

  /** The key to encrypt with. If no key is configured, it's the one in the key file, which is created if necessary. */
  current(): EncryptionKey {
    const { current } = this.#given;
    return this.#keyOf(current ?? readKeyFile(this.file) ?? makeKeyFile(this.file));
  }

  /**
   * The key with that ID, from the configured key, the former ones and the key file; undefined if none of them has the
   * ID.
   */
  find(id: string): EncryptionKey | undefined {
    const { current, former } = this.#given;
    const texts = [current, ...former, readKeyFile(this.file)].filter((text) => text !== undefined);
    return texts.map((text) => this.#keyOf(text)).find((key) => key.id === id);
  }

  #keyOf(text: string): EncryptionKey {
    const known = this.#derived.get(text);
    if (known !== undefined) return known;
    registerSecret(text);
    const key = keyOf(text);
    this.#derived.set(text, key);
    return key;
  }
}

/** Derives a key from any sufficiently long string; different strings yield different keys. */
function keyOf(text: string): EncryptionKey {
  if (text.length < minKeyCharacters) throw tooShort(text.length);
  const bytes = Buffer.from(hkdfSync('sha256', text, 'sluice', 'logins at rest', 32));
  return { bytes, id: createHash('sha256').update(bytes).digest('hex').slice(0, 8) };
}

function readKeyFile(file: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openPrivateFile(file);
    return readFileSync(descriptor, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(file, error as Error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Creates the key file atomically: if two processes create it at the same time, both use the first one's key. */
function makeKeyFile(file: string): string {
  const draft = `${file}.${process.pid}`;
  const text = randomBytes(32).toString('base64');
  registerSecret(text);
  try {
    const descriptor = createPrivateFile(draft);
    try {
      writeSync(descriptor, `${text}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    linkSync(draft, file);
    return text;
  } catch (error) {
    const made = (error as NodeJS.ErrnoException).code === 'EEXIST' ? readKeyFile(file) : undefined;
    if (made === undefined) throw unreadable(file, error as Error);
    return made;
  } finally {
    rmSync(draft, { force: true });
  }
}

function tooShort(length: number): Problem {
  return new Problem({
    code: 'LOGIN_KEY_SHORT',
    family: 'config',
    message: 'The encryption key for logins is too short',
    seen: `${length} characters`,
    allowed: `at least ${minKeyCharacters}`,
    next: 'generate a key with "openssl rand -base64 32" and set SLUICE_KEY to it',
  });
}

function unreadable(file: string, cause: Error): Problem {
  return new Problem({
    code: 'LOGIN_KEY_FILE',
    family: 'config',
    message: `The file with the encryption key for logins cannot be used: ${cause.message}`,
    seen: file,
    allowed: 'a file that this user owns and no other user can read',
    next: `${commandLine('chmod', 600, file)}, or set your own key in SLUICE_KEY`,
    cause,
  });
}
