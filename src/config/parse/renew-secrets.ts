import { isMap } from '../../lib/is-map.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { Source } from '../config.ts';
import { optionsOfSource } from '../options/login.ts';
import type { Faults } from '../text/faults.ts';
import { registerSecrets } from '../text/register-secrets.ts';
import { type Part, resolvePart } from '../text/variables.ts';
import type { LoadContext } from './context.ts';
import { type Member, memberPath } from './member.ts';

interface Renewable {
  readonly member: Member;
  readonly context: LoadContext;
  readonly connector: Connector;
}

/**
 * Re-resolves a source's texts from files and commands, in place, because its jobs share the objects. Returns nothing
 * for a source without any. If a file or command fails, nothing changes.
 */
export function renewalOf(part: Part, { member, context, connector }: Renewable): Pick<Source, 'renew'> {
  const isRenewable = [...part.resolved.values()].some(({ written }) => /\$\{\s*(?:file|cmd)\s*:/.test(written));
  if (!isRenewable) return {};
  const path = memberPath(member);
  const { value } = member;
  // Captures only what is needed, so the rest of the loaded document can be freed.
  const settings = { env: context.env, folder: context.top.folder, allowCommands: context.top.allowCommands };
  const renew = async ({ options, login }: Source): Promise<void> => {
    let isWhole = true;
    const add = (): void => {
      isWhole = false;
    };
    const fresh = await resolvePart({ path, value }, settings, { add } as unknown as Faults);
    if (!isWhole || !isMap(fresh.value)) return;
    registerSecrets(fresh, optionsOfSource(connector));
    assignTexts(options, fresh.value);
    if (login !== undefined && isMap(fresh.value.login)) {
      const { client_secret: clientSecret, private_key: privateKey, password } = fresh.value.login;
      assignTexts(login, { clientSecret, privateKey, password });
    }
  };
  return { renew };
}

/** Only replaces texts with texts, because everything else was validated as it was. */
function assignTexts(old: object, fresh: Readonly<Record<string, unknown>>): void {
  const target = old as Record<string, unknown>;
  for (const [name, value] of Object.entries(fresh)) {
    if (typeof value === 'string' && typeof target[name] === 'string') target[name] = value;
    else if (isMap(value) && isMap(target[name])) assignTexts(target[name], value);
  }
}
