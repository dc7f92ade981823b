import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Env } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { describe, expect, it, onTestFinished } from 'vitest';
import { imageConfig } from '../../deploy/package/image.ts';
import { packagesNeeded } from '../../deploy/package/packages.ts';
import { until } from '../journey/process.ts';
import { carryOut, readDockerfile, type Stage, stagesOf, wordsOf } from './dockerfile.ts';

const run = promisify(execFile);
const text = await readDockerfile();
const stages = stagesOf(text);
const last = stages.at(-1)!;

const find = ({ steps }: Stage, keyword: string) => steps.filter((step) => step.getKeyword() === keyword);
const lineOf = (keyword: string) => find(last, keyword)[0]?.getArgumentsContent();

describe('the Dockerfile', () => {
  it('passes a Dockerfile linter without errors', () => {
    expect(validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([]);
  });

  it('builds in one stage and runs in another, both with a Node version that package.json allows', async () => {
    const { engines } = JSON.parse(await readFile('package.json', 'utf8')) as { engines: { node: string } };
    const allowed = [...engines.node.matchAll(/(?:\^|>=)(\d+)/g)].map(([, major]) => `node:${major}-slim`);
    const images = stages.map(({ image }) => image);
    expect(new Set(images).size).toBe(1);
    expect(allowed).toContain(images[0]);
    expect(stages.flatMap((stage) => find(stage, 'ADD'))).toEqual([]);
  });

  it('runs as a non-root user with a numeric ID and uses SIGTERM as the stop signal', () => {
    expect(lineOf('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(lineOf('STOPSIGNAL')).toBe('SIGTERM');
    expect(wordsOf(find(last, 'ENTRYPOINT')[0])).toEqual(['node', '/app/src/cli/sluice.js']);
    expect(wordsOf(find(last, 'CMD')[0])).toEqual(['run']);
    expect(lineOf('HEALTHCHECK')).toMatch(/CMD \["node", "\/app\/src\/cli\/sluice.js", "health"\]$/);
    expect(lineOf('VOLUME')).toBe('["/data"]');
  });

  it('builds an image with the same user, variables and command as the image that is built without a container engine', () => {
    const { Env: env, Labels: _, ...config } = imageConfig('0.1.0');
    const own = env.filter((one) => !one.startsWith('PATH='));
    const variables = find(last, 'ENV').flatMap((step) => (step instanceof Env ? step.getProperties() : []));
    expect(variables.map((one) => `${one.getName()}=${one.getValue()}`)).toEqual(own);
    expect(config).toEqual({
      User: lineOf('USER'),
      ExposedPorts: { [`${lineOf('EXPOSE')}/tcp`]: {} },
      Entrypoint: wordsOf(find(last, 'ENTRYPOINT')[0]),
      Cmd: wordsOf(find(last, 'CMD')[0]),
      Volumes: Object.fromEntries(wordsOf(find(last, 'VOLUME')[0])!.map((path) => [path, {}])),
      WorkingDir: lineOf('WORKDIR'),
      StopSignal: lineOf('STOPSIGNAL'),
    });
  });

  it('contains no secret and reads none during the build', () => {
    expect(text).not.toMatch(/^\s*ARG\b(?! (SLUICE_COMMIT|SOURCE_DATE_EPOCH)=""$)/m);
    expect(lineOf('ENV')).not.toMatch(/KEY|TOKEN|PASS|SECRET/i);
  });

  it("builds an image that runs as a non-root user, changes none of its own files, reports that it's healthy, and stops on SIGTERM", async () => {
    const into = await mkdtemp(join(tmpdir(), 'sluice-image-'));
    onTestFinished(() => rm(into, { recursive: true, force: true }));
    await chmod(into, 0o755);
    const image = await carryOut(text, { into, folders: ['/app', '/data', '/build', '/config'] });
    const app = image.at('/app');
    expect(await packagesIn(join(app, 'node_modules'))).toEqual(await packagesNeeded());
    expect(await bytesBelow(join(app, 'node_modules'))).toBeLessThan(15_000_000);
    expect((await readdir(app)).sort()).toEqual(
      ['LICENSE', 'cache', 'config', 'dist', 'node_modules', 'package.json', 'src'].sort(),
    );
    await writeFile(
      join(into, 'sluice.yaml'),
      JSON.stringify({
        state: `\${env:SLUICE_STATE:-./sluice-state}`,
        destinations: { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: `\${file:key}` } },
        jobs: {},
      }),
    );
    await writeFile(join(into, 'key'), 'ad'.repeat(20));
    const env = { ...image.env, PATH: process.env.PATH, SLUICE_CONFIG: join(into, 'sluice.yaml') };
    const how = { cwd: '/', env, ...(process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {}) };
    const door = join(app, 'src/cli/sluice.js');
    const before = await inventory(app);
    const daemon = spawn(process.execPath, [door, 'run', '--monitor', '127.0.0.1:0'], {
      ...how,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void daemon.kill('SIGKILL'));
    const output = collect(daemon);
    await until('the daemon to start', () => output().includes('daemon.started'));
    expect((await run(process.execPath, [door, 'health'], how)).stdout).toContain('healthy');
    const url = /"url":"([^"]+)"/.exec(output())?.[1];
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('sluice_scheduler_ticking 1');
    const ended = new Promise((resolve) => daemon.once('exit', (code) => resolve(code)));
    daemon.kill('SIGTERM');
    expect(await ended).toBe(0);
    await expect(run(process.execPath, [door, 'health'], how)).rejects.toMatchObject({ code: 1 });
    expect(await readdir(image.at('/data'))).toContain('sluice.db');
    expect(await inventory(app)).toEqual(before);
  }, 400_000);
});

function collect(child: ChildProcess): () => string {
  let said = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (piece: string) => (said += piece));
  return () => said;
}

/** Every file in the image except its cache of compiled code. */
async function inventory(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => !name.startsWith('cache/')).sort();
}

async function packagesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  const scoped = names.filter((name) => name.startsWith('@'));
  const below = await Promise.all(
    scoped.map(async (scope) => (await readdir(join(folder, scope))).map((name) => `${scope}/${name}`)),
  );
  return [...names.filter((name) => /^[a-z]/.test(name)), ...below.flat()].sort();
}

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  );
  return sizes.reduce((total, size) => total + size, 0);
}
