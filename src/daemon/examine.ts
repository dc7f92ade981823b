import { existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { redact } from '../lib/redact.ts';
import { inspectState } from '../state/inspect.ts';

/** One thing that was looked at. `mend` stands where it is not as it should be. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly says: string;
  readonly mend?: string;
}

/** Free room that a state needs besides its payloads: its database, the log of that, a draft. */
const spareBytes = 64 * 1024 * 1024;
const forOthers = 0o077;

/** Looks at the machine as far as this config touches it; writes nothing and asks nobody. `now` is epoch milliseconds. */
export function examine(config: Config, now: number): Finding[] {
  return [...examineFiles(config), ...examineSecretFiles(config), ...examineState(config), examineZone(now)];
}

function examineFiles({ file, state }: Config): Finding[] {
  const found: Finding[] = [];
  const text = readFileSync(file, 'utf8');
  const open = (statSync(file).mode & forOthers) !== 0 && redact(text) !== text;
  found.push(
    open
      ? bad(
          'config file',
          'it holds secrets and others may read it',
          `chmod 600 ${file}, or name the secrets by \${env:NAME}`,
        )
      : good('config file', 'no secret in it is open to others'),
  );
  for (const path of [state, join(state, 'sluice.db')]) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    const mode = (stat.mode & 0o777).toString(8);
    if (stat.uid !== process.getuid?.()) {
      found.push(
        bad(
          'state owner',
          `${path} belongs to user ${stat.uid}`,
          `run Sluice as that user, or: chown -R ${process.getuid?.()} ${state}`,
        ),
      );
    }
    if ((stat.mode & forOthers) !== 0) {
      const mend = `chmod ${stat.isDirectory() ? 700 : 600} ${path}`;
      found.push(bad('state permissions', `others may look into ${path} (mode ${mode})`, mend));
    } else found.push(good('state permissions', `${path} is its owner's alone (mode ${mode})`));
  }
  return found;
}

/** Files that the config takes values from by `${file:PATH}`. */
function examineSecretFiles({ file, folder }: Config): Finding[] {
  const named = [...readFileSync(file, 'utf8').matchAll(/\$\{file:([^}]+)\}/g)].map(([, path]) =>
    resolve(folder, path!),
  );
  return [...new Set(named)].flatMap((path) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    return (mode & forOthers) === 0 ? [] : [bad('secret file', `others may read ${path}`, `chmod 600 ${path}`)];
  });
}

function examinePayloads(missing: readonly string[]): Finding[] {
  if (missing.length === 0) return [];
  const says = `${missing.length} of what is owed is not on the disk as it was written, first ${missing[0]}`;
  return [bad('payloads', says, 'run the jobs again: sluice sync; then check the disk')];
}

function examineState({ state }: Config): Finding[] {
  const look = inspectState(state);
  const { owed = 0, largest = 0, missing = [] } = look ?? {};
  return [
    ...(look === undefined ? [good('state', `none yet in ${state}`)] : [storeFinding(look)]),
    ...examinePayloads(missing),
    roomFinding(state, owed + 2 * largest),
  ];
}

function storeFinding({ integrity, schema, newest }: NonNullable<ReturnType<typeof inspectState>>): Finding {
  if (integrity !== 'ok')
    return bad('database', `it is damaged: ${integrity}`, 'sluice restore FOLDER --replace, from a backup');
  if (schema > newest)
    return bad('database', `a newer Sluice wrote it (schema ${schema}, known ${newest})`, 'run the newer Sluice');
  const later =
    schema < newest ? `; the next start brings it from schema ${schema} to ${newest}` : `, schema ${schema}`;
  return good('database', `whole${later}`);
}

function roomFinding(state: string, payloads: number): Finding {
  let folder = state;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return judgeRoom({ free: bavail * bsize, payloads, state });
}

/** Bytes free against what is owed and twice the largest payload so far. */
export function judgeRoom({ free, payloads, state }: { free: number; payloads: number; state: string }): Finding {
  const wanted = payloads + spareBytes;
  const says = `${Math.floor(free / 1e6)} MB are free, ${Math.ceil(wanted / 1e6)} MB may be needed`;
  return free >= wanted ? good('disk', says) : bad('disk', says, `make room on the disk of ${state}`);
}

/** The service's day turns by the clock of New York: its changes this year have to be those of the law. */
function examineZone(now: number): Finding {
  const year = new Date(now).getUTCFullYear();
  const start = Temporal.ZonedDateTime.from(`${year}-01-01T00:00[America/New_York]`);
  const first = start.getTimeZoneTransition('next');
  const found = [first, first?.getTimeZoneTransition('next')].map((at) => at?.epochMilliseconds);
  return judgeZone(year, found);
}

/** Second Sunday of March 07:00 UTC and first Sunday of November 06:00 UTC (US Energy Policy Act of 2005, section 110). */
export function judgeZone(year: number, found: readonly (number | undefined)[]): Finding {
  const sunday = (month: number, from: number) => from + ((7 - new Date(Date.UTC(year, month, from)).getUTCDay()) % 7);
  const expected = [Date.UTC(year, 2, sunday(2, 8), 7), Date.UTC(year, 10, sunday(10, 1), 6)];
  const same = expected.every((at, i) => at === found[i]);
  const version = process.versions.tz ?? 'unknown';
  return same
    ? good('time zones', `New York changes its clocks as expected in ${year} (zones ${version})`)
    : bad(
        'time zones',
        `New York does not change its clocks as the law has it in ${year} (zones ${version})`,
        'install a newer Node 26, which brings its zones along',
      );
}

const good = (check: string, says: string): Finding => ({ check, ok: true, says });
const bad = (check: string, says: string, mend: string): Finding => ({ check, ok: false, says, mend });
