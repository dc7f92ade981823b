import type { Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { decrypt, type EncryptedText, encrypt } from '../../oauth/encryption.ts';
import type { EncryptionKeys } from '../../oauth/keys.ts';
import type { AttemptFacts } from '../../sdk/connector.ts';
import type { Store } from '../../state/store.ts';

/** What one attempt of a run hands on to the next: the texts of its connector, and the instant that they date from. */
export class HandedOn implements AttemptFacts {
  readonly texts = new Map<string, string>();
  /** As the attempt before it sealed it; null: it left nothing. */
  readonly sealed: string | null;
  #since: number | undefined;

  constructor(sealed: string | null) {
    this.sealed = sealed;
  }

  get hasBegun(): boolean {
    return this.#since !== undefined;
  }

  get since(): number {
    return this.#since ?? 0;
  }

  begin(since: number, texts: Iterable<readonly [string, string]> = []): void {
    this.#since = since;
    for (const [name, text] of texts) this.texts.set(name, text);
  }
}

interface HandedOnOptions {
  readonly runtime: {
    readonly store: Pick<Store, 'logins'>;
    readonly clock: Clock;
    readonly loginGate: { readonly keys: EncryptionKeys };
  };
  readonly job: Job;
  readonly attempt?: { readonly handedOn: HandedOn } | undefined;
}

/** What the attempt about to begin shares with the others of its run; undefined if there are no others. */
export async function openHandedOn(given: HandedOnOptions, run: string): Promise<HandedOn | undefined> {
  const { runtime, attempt } = given;
  if (attempt === undefined) return undefined;
  const { handedOn } = attempt;
  const left = handedOn.sealed === null ? undefined : await unsealed(given, run, handedOn.sealed);
  handedOn.begin(left?.since ?? Math.round(runtime.clock.now()), left?.texts);
  return handedOn;
}

/** What a failed attempt hands on, encrypted for this run and its login; null if there is nothing. */
export async function sealHandedOn(given: HandedOnOptions, run: string): Promise<string | null> {
  const { runtime, attempt } = given;
  if (attempt === undefined) return null;
  const { hasBegun, sealed, since, texts } = attempt.handedOn;
  // It ended before it asked its source anything.
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

/** Without a key, or for another login, the next attempt begins from scratch, which costs a second report and no more. */
function without(error: unknown): null {
  if (error instanceof Problem) return null;
  throw error;
}

/** The run, and all that its source logs in with: what is encrypted for another login cannot be opened. */
async function purposeOf({ runtime: { store }, job: { extract } }: HandedOnOptions, run: string): Promise<string> {
  const { login, options, connector } = extract?.source ?? {};
  // The new login may be of another user.
  const grant = login?.grant === 'authorization_code' ? (await store.logins.find(login.name))?.made_at : undefined;
  return JSON.stringify(['attempt', run, connector?.id, options, login, grant]);
}
