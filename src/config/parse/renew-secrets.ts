import { isMap } from '../../lib/is-map.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { Source } from '../config.ts';
import { optionsOfSource } from '../options/login.ts';
import type { Faults } from '../text/faults.ts';
import { registerSecrets } from '../text/register-secrets.ts';
import { isRenewable } from '../text/variable-syntax.ts';
import { type Part, readAhead, resolvePart } from '../text/variables.ts';
import type { LoadContext } from './context.ts';
import { type Member, memberPath } from './member.ts';

interface Renewable {
  readonly member: Member;
  readonly context: LoadContext;
}

/**
 * Returns a function that resolves a part of the config again, or undefined if none of the part's values can change
 * while the process runs. The function's promise resolves to undefined if a file, command or secret can't be read.
 */
export function resolveAgain(
  part: Part,
  { member, context }: Renewable,
): (() => Promise<Part | undefined>) | undefined {
  if (![...part.resolved.values()].some(({ written }) => isRenewable(written))) return undefined;
  const path = memberPath(member);
  const { value } = member;
  // Captures only the necessary data, so that the rest of the loaded document can be garbage-collected.
  const { folder, allowCommands, secrets: reader } = context.top;
  const around = { env: context.env, folder, allowCommands };
  return async () => {
    const settings = { ...around, secrets: reader.fresh() };
    const faults = uncollected();
    try {
      readAhead(value, settings);
      const fresh = await resolvePart({ path, value }, settings, faults);
      return faults.isEmpty() ? fresh : undefined;
    } finally {
      await settings.secrets.close();
    }
  };
}

/**
 * A collector for faults in a part that is already in use. The faults aren't reported, but they keep the part from
 * being changed.
 */
export function uncollected(): Faults & { isEmpty(): boolean } {
  let isEmpty = true;
  const add = (): void => {
    isEmpty = false;
  };
  return { add, warn: () => undefined, problems: [], warnings: [], isEmpty: () => isEmpty } as unknown as Faults & {
    isEmpty(): boolean;
  };
}

/**
 * Returns `renew`, which resolves a source's values from files, commands and secrets again, and updates them in place,
 * because its jobs share the objects. Returns an empty object if the source has no such values. If one of them can't be
 * read, `renew` changes nothing.
 */
export function renewalOf(
  part: Part,
  { connector, ...given }: Renewable & { readonly connector: Connector },
): Pick<Source, 'renew'> {
  const again = resolveAgain(part, given);
  if (again === undefined) return {};
  const renew = async ({ options, login }: Source): Promise<void> => {
    const fresh = await again();
    if (!isMap(fresh?.value)) return;
    registerSecrets(fresh, optionsOfSource(connector));
    assignTexts(options, fresh.value);
    if (login !== undefined && isMap(fresh.value.login)) {
      const { client_secret: clientSecret, private_key: privateKey, password } = fresh.value.login;
      assignTexts(login, { clientSecret, privateKey, password });
    }
  };
  return { renew };
}

/** Replaces only strings with strings. All other values stay as they were validated. */
function assignTexts(old: object, fresh: Readonly<Record<string, unknown>>): void {
  const target = old as Record<string, unknown>;
  for (const [name, value] of Object.entries(fresh)) {
    if (typeof value === 'string' && typeof target[name] === 'string') target[name] = value;
    else if (isMap(value) && isMap(target[name])) assignTexts(target[name], value);
  }
}
