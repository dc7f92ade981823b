import { fstatSync } from 'node:fs';

/** Syslog priorities (RFC 5424, section 6.2.1) by level. */
const priorities = { debug: 7, info: 6, warn: 4, error: 3 } as const;

export type JournalLevel = keyof typeof priorities;

/**
 * Prefixes lines for systemd's journal with their priority (sd-daemon(3): `<3>` at the start of a line), so that
 * `journalctl -p err` finds them. Undefined if the descriptor isn't connected to the journal: JOURNAL_STREAM contains
 * the device and inode of systemd's stream, but a child process may have been redirected since (systemd.exec(5)).
 */
export function journalPrefix(
  descriptor: number,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ((level: JournalLevel) => string) | undefined {
  if (env.JOURNAL_STREAM === undefined) return undefined;
  try {
    const { dev, ino } = fstatSync(descriptor);
    return env.JOURNAL_STREAM === `${dev}:${ino}` ? (level) => `<${priorities[level]}>` : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Prepares multi-line text for a descriptor: adds the priority to each line if the descriptor is connected to the
 * journal.
 */
export function forJournal(text: string, { descriptor, level }: { descriptor: number; level: JournalLevel }): string {
  const prefix = journalPrefix(descriptor)?.(level);
  return prefix === undefined ? text : text.replaceAll(/^(?=.)/gm, prefix);
}
