import type { Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { decrypt, type EncryptedText, encrypt } from '../../oauth/encryption.ts';
import type { EncryptionKeys } from '../../oauth/keys.ts';
import type { AttemptFacts } from '../../sdk/connector.ts';
import type { Store } from '../../state/store.ts';

/** What one attempt passes to the next: strings that the connector stored, and when the first attempt began. */
export class HandedOn implements AttemptFacts {
  readonly texts = new Map<string, string>();
  /** The previous attempt's encrypted facts; null if there are none. */
  readonly sealed: string | null;
  #since: number | undefined;
  #folder = '';

  constructor(sealed: string | null) {
    this.sealed = sealed;
  }

  get hasBegun(): boolean {
    return this.#since !== undefined;
  }

  get since(): number {
    return this.#since ?? 0;
  }

  get folder(): string {
    return this.#folder;
  }

  begin(
    { since, folder }: Pick<AttemptFacts, 'since' | 'folder'>,
    texts: Iterable<readonly [string, string]> = [],
  ): void {
    this.#since = since;
    this.#folder = folder;
    for (const [name, text] of texts) this.texts.set(name, text);
  }
}

interface HandedOnOptions {
  readonly runtime: {
    readonly store: Pick<Store, 'logins' | 'attemptFiles'>;
    readonly clock: Clock;
    readonly loginGate: { readonly keys: EncryptionKeys };
  };
  readonly job: Job;
  readonly attempt?: { readonly handedOn: HandedOn } | undefined;
}

/** The facts for an attempt that is about to begin; undefined if the run isn't retried. */
export async function openHandedOn(given: HandedOnOptions, run: string): Promise<HandedOn | undefined> {
  const { runtime, attempt } = given;
  if (attempt === undefined) return undefined;
  const { handedOn } = attempt;
  const left = handedOn.sealed === null ? undefined : await unsealed(given, run, handedOn.sealed);
  const since = left?.since ?? Math.round(runtime.clock.now());
  handedOn.begin({ since, folder: runtime.store.attemptFiles.folderOf(run) }, left?.texts);
  return handedOn;
}

/** Encrypts a failed attempt's facts for this run and its login; null if there are none. */
export async function sealHandedOn(given: HandedOnOptions, run: string): Promise<string | null> {
  const { runtime, attempt } = given;
  if (attempt === undefined) return null;
  const { hasBegun, sealed, since, texts } = attempt.handedOn;
  // This attempt ended before it sent a request to its source, so the facts stay as they were.
  if (!hasBegun) return sealed;
  if (texts.size === 0) return null;
  const content: Content = { since, texts: [...texts] };
  try {
    return JSON.stringify(encrypt(JSON.stringify(content), await purposeOf(given, run), runtime.loginGate.keys));
  } catch (error) {
    return without(error);
  }
}

interface Content {
  readonly since: number;
  readonly texts: readonly (readonly [string, string])[];
}

async function unsealed(given: HandedOnOptions, run: string, sealed: string): Promise<Content | undefined> {
  const { loginGate } = given.runtime;
  const purpose = await purposeOf(given, run);
  try {
    return JSON.parse(decrypt(JSON.parse(sealed) as EncryptedText, purpose, loginGate.keys)) as Content;
  } catch (error) {
    return without(error) ?? undefined;
  }
}

/**
 * Without the encryption key, or with a different login, the next attempt starts from scratch, which costs a second
 * report request.
 */
function without(error: unknown): null {
  if (error instanceof Problem) return null;
  throw error;
}

/**
 * The encryption context consists of the run and everything that its source logs in with. Facts that were stored for a
 * different login can't be decrypted.
 */
async function purposeOf({ runtime: { store }, job: { extract } }: HandedOnOptions, run: string): Promise<string> {
  const { login, options, connector } = extract?.source ?? {};
  // If someone authorized the login again, the grant may belong to a different user.
  const grant = login?.grant === 'authorization_code' ? (await store.logins.find(login.name))?.made_at : undefined;
  return JSON.stringify(['attempt', run, connector?.id, options, login, grant]);
}
