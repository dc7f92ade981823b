import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expandHome, Problem, type ProblemOptions } from '#sdk';
import { readParameters } from './connection-parameters.ts';
import type { SourceValues } from './options.ts';
import type { ParameterValues } from './parameter-readers.ts';

const defaultFile = '~/.pg_service.conf';

/** The connection service file of a source; undefined if the source doesn't name a service. */
export function serviceFileOf({ service, service_file: path = defaultFile }: SourceValues): string | undefined {
  return service === undefined ? undefined : expandHome(path);
}

/**
 * Reads the source's section of a connection service file. Throws `DB_SERVICE_FILE` if there's no such file or
 * section, or if an entry can't be used. https://www.postgresql.org/docs/current/libpq-pgservice.html
 */
export async function readService(source: SourceValues, folder: string): Promise<ParameterValues> {
  const file = serviceFileOf(source);
  if (file === undefined) return {};
  const path = resolve(folder, file);
  const sections = sectionsIn(await readText(path));
  const entries = sections.get(source.service!);
  if (entries === undefined) {
    throw unusable({
      message: `connection service not found in ${path}`,
      seen: source.service!,
      allowed: [...sections.keys()].join(', ') || 'none, because the file has no sections',
      next: 'correct the service option, or add the section to the file',
    });
  }
  const { values, faults } = readParameters('postgres', entries);
  const fault = faults.find(({ isTlsMode }) => !isTlsMode || source.tls.mode === undefined);
  if (fault === undefined) return values;
  throw unusable({
    message: `the section [${source.service}] of ${path} ${fault.message}`,
    next: 'correct the file',
  });
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw unusable({
      message: `cannot read the connection service file: ${path}`,
      next: "set service_file to its path, or fix the file's permissions",
      cause,
    });
  }
}

type Entry = readonly [name: string, value: string];

function sectionsIn(text: string): ReadonlyMap<string, readonly Entry[]> {
  const sections = new Map<string, Entry[]>();
  let entries: Entry[] = [];
  for (const line of text.split(/\r?\n/).map((one) => one.trim())) {
    const name = /^\[(.*)\]$/.exec(line)?.[1];
    if (name !== undefined) {
      entries = [];
      // As in libpq, the first of several sections with one name counts.
      if (!sections.has(name)) sections.set(name, entries);
    } else if (line !== '' && !line.startsWith('#')) {
      const [key = '', ...value] = line.split('=');
      entries.push([key.trim(), value.join('=').trim()]);
    }
  }
  return sections;
}

function unusable(init: Pick<ProblemOptions, 'message' | 'seen' | 'allowed' | 'next' | 'cause'>): Problem {
  return new Problem({ code: 'DB_SERVICE_FILE', family: 'config', ...init });
}
