import { systemClock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { DeviceConsent } from '../../oauth/device-consent.ts';
import type { TokenClient } from '../../oauth/token-client.ts';
import type { TokenResponse } from '../../oauth/token-response.ts';
import { instantText } from '../format.ts';
import { printable } from '../table.ts';
import type { LoginSource } from './find-login.ts';

interface ByCodeOptions {
  readonly source: LoginSource;
  readonly vendor: TokenClient;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** OAuth device flow: shows a code to enter on another device, and waits for the approval. */
export async function byCode({ source, vendor, say, signal }: ByCodeOptions): Promise<TokenResponse> {
  if (source.login.description.device === undefined) throw noCodes(source);
  const consent = await DeviceConsent.begin(vendor, systemClock);
  const { address, fullAddress, userCode, lifetimeMs } = consent.code;
  say(`Open this URL on any device and enter this code:\n\n  ${address}\n\n  ${printable(userCode)}\n`);
  if (fullAddress !== undefined) say(`Or open this URL, which contains the code: ${fullAddress}`);
  const until = instantText(systemClock.now() + lifetimeMs);
  say(`The code is valid until ${until}. Waiting for approval (Ctrl-C to cancel) …`);
  return consent.wait(signal);
}

function noCodes({ name, connector }: LoginSource): Problem {
  return new Problem({
    code: 'CLI_NO_CODES',
    family: 'config',
    message: `${connector.title} does not support login by code`,
    where: { source: name },
    next: `sluice login ${name} --paste`,
  });
}
