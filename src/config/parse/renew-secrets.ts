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
  readonly connector: Connector;
}

/**
 * Re-resolves a source's texts from files, commands and secrets, in place, because its jobs share the objects. Returns nothing
 * for a source without any. If one of them fails, nothing changes.
 */
export function renewalOf(part: Part, { member, context, connector }: Renewable): Pick<Source, 'renew'> {
  if (![...part.resolved.values()].some(({ written }) => isRenewable(written))) return {};
  const path = memberPath(member);
  const { value } = member;
  // Captures only what is needed, so the rest of the loaded document can be freed.
  const { folder, allowCommands, secrets: reader } = context.top;
  const settings = { env: context.env, folder, allowCommands };
  const renew = async ({ options, login }: Source): Promise<void> => {
    let isWhole = true;
    const add = (): void => {
      isWhole = false;
    };
    const secrets = reader.fresh();
    readAhead(value, { ...settings, secrets });
    const fresh = await resolvePart({ path, value }, { ...settings, secrets }, { add } as unknown as Faults).finally(
      () => secrets.close(),
    );
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
