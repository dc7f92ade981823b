import { registerSecret } from '../lib/redact.ts';
import { unreachable } from './refusal.ts';

/** What a vendor gave to let a person consent on another machine (RFC 8628 section 3.2). */
export interface DeviceCode {
  /** Ours, given in for the token. */
  readonly deviceCode: string;
  /** The person's, entered at `address`. */
  readonly userCode: string;
  readonly address: string;
  /** The same with the code in it. */
  readonly fullAddress?: string;
  readonly lifetimeMs: number;
  /** Least time between two questions whether the person has agreed. */
  readonly intervalMs: number;
}

/** Where the vendor does not say it; the former is what most give, the latter is section 3.2. */
const usualLifetimeSeconds = 600;
const usualIntervalSeconds = 5;

/** Reads a vendor's answer; some still call the address `verification_url`, as the drafts did. */
export function readDeviceCode(
  answer: Readonly<Record<string, unknown>>,
  { host, lifetime_seconds = usualLifetimeSeconds }: { host: string; lifetime_seconds: number | undefined },
): DeviceCode {
  const { device_code, user_code, verification_uri, verification_url, verification_uri_complete: full } = answer;
  const address = addressOf(verification_uri ?? verification_url);
  if (typeof user_code !== 'string' || address === undefined) {
    const seen = `fields ${Object.keys(answer).join(', ')}`;
    throw unreachable(host, { message: `${host} answered without a user code`, seen });
  }
  const fullAddress = addressOf(full);
  registerSecret(String(device_code));
  return {
    deviceCode: String(device_code),
    userCode: user_code,
    address,
    fullAddress,
    lifetimeMs: secondsOf(answer.expires_in, lifetime_seconds) * 1000,
    intervalMs: secondsOf(answer.interval, usualIntervalSeconds) * 1000,
  };
}

/** It is shown to a person to open, so it has to be a page of the web. */
function addressOf(value: unknown): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

function secondsOf(value: unknown, otherwise: number): number {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? seconds : otherwise;
}
