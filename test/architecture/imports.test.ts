import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** The allowed imports between our own rooms. Everything else is rejected. */
const allowed: Record<string, readonly string[]> = {
  lib: [],
  sdk: ['lib'],
  connectors: ['#sdk', 'connectors'],
  formats: ['sdk', 'lib'],
  transforms: ['sdk', 'lib'],
  guards: ['sdk', 'lib', 'config'],
  'kept-rows': ['sdk', 'lib'],
  compare: ['kept-rows', 'formats', 'transforms', 'sdk', 'lib'],
  pipeline: ['formats', 'kept-rows', 'transforms', 'sdk', 'lib', 'config'],
  schedule: ['lib'],
  secrets: ['oauth', 'sdk', 'lib'],
  state: ['lib', 'pipeline', 'kept-rows', 'secrets'],
  config: ['sdk', 'lib', 'formats', 'transforms', 'schedule', 'kept-rows', 'alerts', 'secrets', 'state'],
  oauth: ['lib', 'sdk', 'state', 'config'],
  delivery: ['state', 'pipeline', 'config', 'guards', 'lib'],
  alerts: ['state', 'config', 'sdk', 'lib'],
  daemon: [
    'alerts',
    'config',
    'delivery',
    'formats',
    'guards',
    'oauth',
    'pipeline',
    'schedule',
    'sdk',
    'kept-rows',
    'state',
    'transforms',
    'lib',
  ],
  console: ['daemon', 'config', 'state', 'lib'],
  service: ['formats', 'sdk', 'lib'],
  cli: [
    'alerts',
    'compare',
    'config',
    'console',
    'daemon',
    'delivery',
    'formats',
    'guards',
    'oauth',
    'pipeline',
    'schedule',
    'sdk',
    'service',
    'kept-rows',
    'state',
    'transforms',
    'lib',
    'connectors',
  ],
};

/**
 * Later stages may know the nouns Payload (including the check that its file is intact) and Config, and nothing else.
 */
const nounsOnly: Record<string, Record<string, readonly string[]>> = {
  state: { pipeline: ['payload.ts'], 'kept-rows': ['manifest.ts'] },
  config: {
    'kept-rows': ['write-rule.ts'],
    alerts: ['channels.generated.ts'],
    state: ['engine/state-database.ts'],
  },
  delivery: { pipeline: ['payload.ts', 'verify-payload.ts'], config: ['config.ts'] },
  alerts: { config: ['alerts.ts', 'options/alerts.ts', 'options/field.ts'] },
  oauth: { config: ['config.ts'] },
  pipeline: { config: ['config.ts'] },
  guards: { config: ['config.ts'] },
};

interface Import {
  readonly file: string;
  readonly target: string;
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const pattern = /(?:from\s*|import\s*\(\s*|import\s+)['"]([^'"]+)['"]/g;
  return [...text.matchAll(pattern)]
    .map((match) => match[1]!)
    .filter((target) => target.startsWith('.') || target.startsWith('#'))
    .map((target) => ({ file, target: target.startsWith('#') ? target : resolve(dirname(file), target) }));
}

function roomOf(path: string): string {
  const parts = relative(root, path).split('/');
  return parts[0] === 'src' ? parts[1]! : parts[0]!;
}

function faultOf({ file, target }: Import): string | undefined {
  const from = roomOf(file);
  const to = target.startsWith('#') ? target.split('/')[0]! : roomOf(target);
  if (from === to && from !== 'connectors') return undefined;
  const said = `${relative(root, file)} may not import ${target.startsWith('#') ? target : relative(root, target)}`;
  if (!(allowed[from] ?? []).includes(to)) return said;
  const nouns = nounsOnly[from]?.[to];
  return nouns !== undefined && !nouns.some((noun) => target === join(root, 'src', to, noun)) ? said : undefined;
}

const imports = ['src', 'connectors'].flatMap(sourcesBelow).flatMap(importsOf);

describe('source folders', () => {
  it('are found, so the other tests here have imports to check', () => {
    expect(imports.length).toBeGreaterThan(50);
  });

  it('import only what src/ARCHITECTURE.md allows', () => {
    expect(imports.map(faultOf).filter((fault) => fault !== undefined)).toEqual([]);
  });

  it('break a rule if the daemon imports the service', () => {
    const crossing = { file: join(root, 'src/daemon/x.ts'), target: join(root, 'src/service/index.ts') };
    expect(faultOf(crossing)).toContain('src/daemon/x.ts may not import src/service/index.ts');
  });

  it('never call process.exit()', () => {
    const forced = ['src', 'connectors']
      .flatMap(sourcesBelow)
      .filter((file) => !file.endsWith('/loop-watch/watch-worker.ts'))
      .filter((file) => /process\.(exit|reallyExit|abort)\s*\(/.test(readFileSync(file, 'utf8')));
    expect(forced.map((file) => relative(root, file))).toEqual([]);
  });

  it('truncate output only with the functions in redact.ts, which first redact secrets', () => {
    const cut =
      /(?:seen|message|allowed|next): .*\.(?:slice|substring)\(0, \d|(?:shorten|excerpt|cutText|shown)\(.*(?:\.slice|\.substring|toString\('[\w-]+',)/;
    const cutting = ['src', 'connectors'].flatMap(sourcesBelow).flatMap((file) => {
      const lines = readFileSync(file, 'utf8').split('\n');
      return lines.filter((line) => cut.test(line)).map((line) => `${relative(root, file)}: ${line.trim()}`);
    });
    expect(cutting).toEqual([]);
  });

  it('import temporal.ts wherever they use Temporal, which Node 24 lacks', () => {
    const lacking = sourcesBelow('src').filter((file) => {
      const text = readFileSync(file, 'utf8');
      return /\bTemporal\.[A-Z]/.test(text) && !/\/temporal(-polyfill)?\.ts|from '#sdk'/.test(text);
    });
    expect(lacking.map((file) => relative(root, file)).filter((file) => file !== 'src/lib/temporal.ts')).toEqual([]);
  });

  it("compute the name of an import only in listed files, because the bundler can't follow such imports", () => {
    const computed = ['src', 'connectors']
      .flatMap(sourcesBelow)
      .filter((file) => /\bcreateRequire\(/.test(readFileSync(file, 'utf8')));
    expect(computed.map((file) => relative(root, file)).sort()).toEqual([
      'connectors/db/duckdb-query.ts',
      'connectors/db/optional-package.ts',
      // These two load the package's own files.
      'src/cli/compiled-code.ts',
      'src/lib/import-own.ts',
      'src/lib/late.ts',
      // The bundle's entry files: see knip.entry in package.json.
      'src/lib/temporal.ts',
    ]);
  });
});
