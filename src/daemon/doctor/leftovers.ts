import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { commandLine } from '../../lib/command-line.ts';
import { filesBelow } from '../../lib/files-below.ts';
import { bad, type Finding, good } from './finding.ts';

const dayMs = 86_400_000;
/** If dead runs have left more than this, suggest a restart of the daemon, because each start cleans up. */
const worthBytes = 100_000_000;

/**
 * Finds what crashes and restores left in a state folder: unreferenced payloads and partial files, staging folders of
 * killed backups, and states that a restore moved aside. `known` contains the paths that the database refers to.
 */
export function examineLeftovers({ state }: Config, known: ReadonlySet<string>, now: number): Finding[] {
  if (!existsSync(state)) return [];
  const files = foundBelow(join(state, 'payloads')).filter(({ path, at }) => !known.has(path) && now - at > dayMs);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const names = readdirSync(state);
  const stages = names.filter((name) => /^\.(backup|restore)-/.test(name) && isOld(join(state, name), now));
  const former = names.filter((name) => name.startsWith('before-')).map((name) => join(state, name));
  return [
    orphansFinding({ count: files.length, bytes, first: files[0]?.path }),
    ...stages.map((name) => {
      const path = join(state, name);
      return bad('leftovers', `${path} was left by an interrupted backup or restore`, commandLine('rm', '-r', path));
    }),
    ...former.map((path) =>
      good('former state', `${path} was moved aside by a restore; delete it once you've verified the restored state`),
    ),
  ];
}

/** Finds unreferenced files in payloads/ that are more than a day old. */
export function orphansFinding({
  count,
  bytes,
  first,
}: {
  count: number;
  bytes: number;
  first?: string | undefined;
}): Finding {
  if (count === 0) return good('leftovers', 'no unreferenced payloads or partial files');
  const message = `${count} unreferenced ${count === 1 ? 'file' : 'files'} (${Math.ceil(bytes / 1e6)} MB); the first is ${first}`;
  if (bytes < worthBytes) return good('leftovers', `${message}; the next start deletes them`);
  return bad('leftovers', message, 'restart the daemon, or run "sluice sync": both delete the files on startup');
}

interface Found {
  readonly path: string;
  readonly at: number;
  readonly size: number;
}

function foundBelow(folder: string): Found[] {
  return filesBelow(folder).flatMap((path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? [] : [{ path, at: stat.mtimeMs, size: stat.size }];
  });
}

function isOld(path: string, now: number): boolean {
  const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return at !== undefined && now - at > dayMs;
}
