import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { forTest, makeFolder } from '../journey/process.ts';

const folder = resolve(import.meta.dirname, '../../deploy/ci');
const action = parse(await readFile(join(folder, 'action.yml'), 'utf8')) as Action;
const [spec, jobs] = parseAllDocuments(await readFile(join(folder, 'gitlab.yml'), 'utf8')).map((one) => one.toJS()) as [
  { spec: { inputs: Record<string, { default?: string }> } },
  Record<string, GitlabJob>,
];

interface Action {
  readonly inputs: Record<string, { default?: string }>;
  readonly runs: { readonly steps: readonly Step[] };
}

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Record<string, string>;
}

interface GitlabJob {
  readonly script: readonly string[];
  readonly variables: Record<string, string>;
  readonly rules: readonly { readonly if: string }[];
  readonly artifacts: { readonly paths: readonly string[]; readonly reports: { readonly codequality: string } };
}

interface Ended {
  readonly code: number;
  readonly output: string;
}

interface ShellOptions {
  readonly cwd: string;
  readonly env: Record<string, string>;
}

function shell(text: string, { cwd, env }: ShellOptions): Promise<Ended> {
  const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
  return new Promise((done) => {
    const options = { cwd, env: { PATH: path, HOME: cwd, ...env } };
    execFile('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', text], options, (error, stdout, stderr) =>
      done({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr }),
    );
  });
}

const job = (schedule: string, more = '') =>
  `source: files, query: orders.csv, format: csv, target: "\${env:ORDERS_ID}", schedule: ${schedule}${more}`;
const configWith = (...orders: string[]) => `version: 1
destinations:
  main: { url: "\${env:SERVICE_URL}", api_key: "\${vault:secret/sluice#key}" }
sources:
  files: { connector: file, folder: data }
jobs:
${orders.map((one, i) => `  orders${i}: { ${one.replace('ORDERS_ID', `ORDERS_${i}`)} }`).join('\n')}
`;

/** A repository with a commit for each version of its files, as a CI job checks it out. */
async function makeRepository(...versions: readonly Record<string, string>[]) {
  const cwd = await makeFolder();
  const git = async (line: string): Promise<string> => {
    const { code, output } = await shell(`git -c user.name=a -c user.email=a@b.test ${line}`, { cwd, env: {} });
    expect({ line, code, output }).toMatchObject({ code: 0 });
    return output.trim();
  };
  await git('init --quiet');
  const commits: string[] = [];
  const commit = async (files: Record<string, string>): Promise<void> => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(cwd, name)), { recursive: true });
      await writeFile(join(cwd, name), text);
    }
    await git('add --all');
    await git('commit --quiet --message=version');
    commits.push(await git('rev-parse HEAD'));
  };
  for (const files of versions) await commit(files);
  return { cwd, commits, commit };
}

interface Comment {
  readonly id: number;
  body: string;
}

/** A test double of the comments API. With `status`, it rejects writes with that status. */
async function fakeApi({ status }: { status?: number } = {}) {
  const comments: Comment[] = Array.from({ length: 100 }, (_, id) => ({ id, body: 'from a person' }));
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
    requests.push(`${request.method} ${pathname} ${request.headers.authorization ?? request.headers['private-token']}`);
    const isRefused = request.method !== 'GET' && status !== undefined;
    const { body } = (text === '' ? {} : JSON.parse(text)) as { body?: string };
    const page = Number(searchParams.get('page'));
    if (!isRefused && request.method === 'POST') comments.push({ id: comments.length, body: body! });
    if (!isRefused && /^(PATCH|PUT)$/.test(request.method!)) comments[Number(pathname.split('/').at(-1))]!.body = body!;
    response.writeHead(isRefused ? status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(request.method === 'GET' ? comments.slice((page - 1) * 100, page * 100) : {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  forTest(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests, own: () => comments.slice(100) };
}

/** A program named `sluice`, as a package installs it. */
async function installedIn(bin: string): Promise<void> {
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, 'sluice'), `#!/bin/sh\nexec '${process.execPath}' '${inject('door')}' "$@"\n`);
  await chmod(join(bin, 'sluice'), 0o755);
}

/** An npm that installs that program, and records its arguments. */
async function fakeNpm(into: string): Promise<string> {
  const bin = await makeFolder();
  await installedIn(join(bin, 'program'));
  const ci = join(into, 'node_modules/sluice/deploy');
  await writeFile(
    join(bin, 'npm'),
    `#!/bin/sh\necho "$@" >'${bin}/arguments'\nmkdir -p '${into}/node_modules/.bin' '${ci}'\ncp '${bin}/program/sluice' '${into}/node_modules/.bin'\ncp -r '${folder}' '${ci}'\n`,
  );
  await chmod(join(bin, 'npm'), 0o755);
  return bin;
}

type Values = Record<string, string>;

/** Evaluates a GitHub Actions expression, in the few forms that the action uses. */
function expression(text: string, values: Values): unknown {
  const source = text
    .replaceAll(/\b(?:inputs|runner|github|steps)(?:\.[\w-]+)+/g, (name) => JSON.stringify(values[name] ?? ''))
    .replaceAll("''", '""')
    .replaceAll(/'([^']*)'/g, (_, inside: string) => JSON.stringify(inside));
  const format = (form: string, ...parts: string[]) =>
    form.replaceAll(/\{(\d)\}/g, (_, i: string) => parts[Number(i)]!);
  return new Function('format', `return ${source}`)(format);
}

const filled = (text: string, values: Values): string =>
  text.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, inside: string) => String(expression(inside, values)));

interface ActionOptions {
  readonly cwd: string;
  readonly event: object;
  readonly inputs?: Values;
  readonly api: string;
  readonly path?: string;
}

/** Runs the action's steps as a runner does. */
async function runAction({ cwd, event, inputs = {}, api, path }: ActionOptions) {
  const temp = await makeFolder();
  const files = { GITHUB_EVENT_PATH: 'event.json', GITHUB_STEP_SUMMARY: 'summary.md', GITHUB_OUTPUT: 'output' };
  await writeFile(join(temp, 'event.json'), JSON.stringify(event));
  const given = Object.entries(action.inputs).map(([name, { default: value = '' }]) => [
    `inputs.${name}`,
    inputs[name] ?? filled(value, { 'github.token': 'ghs_token' }),
  ]);
  const values: Values = {
    ...Object.fromEntries(given),
    'runner.temp': temp,
    'runner.os': 'Linux',
    'runner.arch': 'X64',
  };
  let ended: Ended = { code: 0, output: '' };
  for (const step of action.runs.steps) {
    if (step.if !== undefined && expression(step.if, values) !== true) continue;
    if (step.run === undefined || ended.code !== 0) continue;
    const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, filled(text, values)]));
    const runner = {
      ...Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(temp, file)])),
      ...{ GITHUB_ACTIONS: 'true', GITHUB_ACTION_PATH: folder, GITHUB_API_URL: api, GITHUB_REPOSITORY: 'acme/config' },
      ...(path === undefined ? {} : { PATH: `${path}:${dirname(process.execPath)}:/usr/bin:/bin` }),
    };
    ended = await shell(step.run, { cwd, env: { ...runner, ...env } });
  }
  const summary = await readFile(join(temp, 'summary.md'), 'utf8').catch(() => '');
  return { ...ended, summary, temp };
}

async function withCommand(): Promise<Values> {
  const bin = await makeFolder();
  await installedIn(bin);
  return { command: join(bin, 'sluice'), days: '1' };
}

const requestOf = ([base, head]: readonly string[]) => ({
  pull_request: { number: 7, base: { sha: base }, head: { sha: head } },
});

describe('the GitHub action', () => {
  it('pins every action that it uses to a commit', () => {
    const used = action.runs.steps.flatMap(({ uses }) => uses ?? []);
    expect(used.length).toBeGreaterThan(0);
    for (const one of used) expect(one).toMatch(/@[\da-f]{40}$/);
  });

  it('comments on what a pull request changes, and updates its comment after the next push', async () => {
    const { cwd, commits, commit } = await makeRepository(
      { 'sluice.yaml': configWith(job('every 1h')) },
      { 'sluice.yaml': configWith(job('every 15m'), job('every 30m')) },
    );
    const api = await fakeApi();
    const inputs = await withCommand();
    const first = await runAction({ cwd, event: requestOf(commits), inputs, api: api.url });
    expect(first).toMatchObject({ code: 0 });
    expect(first.summary).toMatch(/1 job added, 1 job changed\. Each day.s requests fit/);
    expect(first.summary).toMatch(/\| orders0 \| changed \| .*every 1h → every 15m.* \| 24 \| 96 \|/);
    expect(first.summary).toMatch(/\| main \| 24 of 1,000 \| 144 of 1,000 \|/);
    expect(first.summary).toContain('Simulation of the next 1 days');
    expect(api.own()).toMatchObject([{ body: expect.stringContaining('every 15m') }]);
    expect(api.requests.at(-1)).toBe('POST /repos/acme/config/issues/7/comments Bearer ghs_token');
    await commit({ 'sluice.yaml': configWith(job('every 20m')) });
    const second = await runAction({ cwd, event: requestOf([commits[0]!, commits[2]!]), inputs, api: api.url });
    expect(second).toMatchObject({ code: 0 });
    expect(api.own()).toMatchObject([{ body: expect.stringContaining('every 20m') }]);
    expect(api.requests.at(-1)).toMatch(/^PATCH \/repos\/acme\/config\/issues\/comments\/100 /);
  });

  it('marks the lines with errors and fails, even without the secrets', async () => {
    const { cwd, commits } = await makeRepository(
      { 'sluice.yaml': configWith(job('every 1h')) },
      { 'sluice.yaml': configWith(job('every 1h', ', priorty: high')) },
    );
    const api = await fakeApi();
    const ended = await runAction({ cwd, event: requestOf(commits), inputs: await withCommand(), api: api.url });
    expect(ended.code).toBe(2);
    expect(ended.output).toMatch(/^::error file=sluice\.yaml,line=7,title=CONFIG_UNKNOWN_OPTION::.*priorty/m);
    expect(ended.output.match(/^::error/gm)).toHaveLength(1);
    expect(api.own()).toMatchObject([{ body: expect.stringContaining('CONFIG&#95;UNKNOWN&#95;OPTION') }]);
  });

  it("fails if the requests no longer fit the allowance, unless it's configured to warn", async () => {
    const { cwd, commits } = await makeRepository(
      { 'sluice.yaml': configWith(job('every 1h')) },
      { 'sluice.yaml': configWith(job('every 1m')) },
    );
    const api = await fakeApi();
    const inputs: Values = { ...(await withCommand()), days: '0' };
    const given = { cwd, event: requestOf(commits), api: api.url };
    expect(await runAction({ ...given, inputs })).toMatchObject({
      code: 1,
      summary: expect.stringMatching(/no longer fit/),
    });
    expect(await runAction({ ...given, inputs: { ...inputs, 'over-budget': 'warn' } })).toMatchObject({ code: 0 });
  });

  it("checks a fork's pull request without writing a comment", async () => {
    const { cwd, commits } = await makeRepository(
      { 'sluice.yaml': configWith(job('every 1h')) },
      { 'sluice.yaml': configWith(job('every 2h')) },
    );
    const api = await fakeApi({ status: 403 });
    const inputs: Values = { ...(await withCommand()), days: '0' };
    const ended = await runAction({ cwd, event: requestOf(commits), inputs, api: api.url });
    expect(ended).toMatchObject({ code: 0, output: expect.stringContaining('HTTP 403') });
    expect(ended.summary).toContain('every 1h → every 2h');
  });

  it('checks several configs in subfolders, including a new one, and a push without a pull request', async () => {
    const { cwd, commits } = await makeRepository(
      { 'teams/a/sluice.yaml': configWith(job('every 1h')) },
      { 'teams/b/sluice.yaml': configWith(job('every 2h')) },
    );
    const api = await fakeApi();
    const inputs: Values = { ...(await withCommand()), days: '0', config: 'teams/*/sluice.yaml' };
    const ended = await runAction({ cwd, event: { before: commits[0] }, inputs, api: api.url });
    expect(ended.code).toBe(0);
    expect(ended.summary).toMatch(/teams\/a\/sluice\.yaml[\s\S]*The configs have the same options/);
    expect(ended.summary).toMatch(/teams\/b\/sluice\.yaml[\s\S]*1 job added/);
    expect(api.requests).toEqual([]);
  });

  it('installs a package only if its checksum matches', async () => {
    const { cwd, commits } = await makeRepository(
      { 'sluice.yaml': configWith(job('every 1h')), 'sluice-0.1.0.tgz': 'a package' },
      { 'sluice.yaml': configWith(job('every 2h')) },
    );
    const api = await fakeApi();
    const given = { cwd, event: requestOf(commits), api: api.url };
    const sha256 = createHash('sha256').update('a package').digest('hex');
    const inputs: Values = { package: 'sluice-0.1.0.tgz', sha256, days: '0' };
    const other = await runAction({ ...given, inputs: { ...inputs, sha256: sha256.replaceAll(/\d/g, '0') } });
    expect(other.code).toBe(1);
    expect(other.summary).toBe('');
    const unpinned = await runAction({ ...given, inputs: { package: `${api.url}/sluice.tgz` } });
    expect(unpinned).toMatchObject({ code: 2, output: expect.stringContaining('sha256') });
  });
});

describe('the GitLab template', () => {
  it('reports errors in the code quality report and, given a token, comments on the merge request', async () => {
    const [{ script, variables, artifacts, rules } = {} as GitlabJob] = Object.values(jobs);
    expect(rules).toEqual([{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }]);
    const { cwd, commits, commit } = await makeRepository(
      { 'sluice.yaml': configWith(job('every 1h')), 'sluice-0.1.0.tgz': 'a package' },
      { 'sluice.yaml': configWith(job('every 2h'), job('never')) },
    );
    const api = await fakeApi();
    const npm = await fakeNpm(join(cwd, '.sluice-ci'));
    const sha256 = createHash('sha256').update('a package').digest('hex');
    const inputs: Values = { package: 'sluice-0.1.0.tgz', sha256, days: '0' };
    const input = (text: string) =>
      text.replaceAll(
        /\$\[\[ inputs\.([\w-]+) \]\]/g,
        (_, name: string) => inputs[name] ?? spec.spec.inputs[name]!.default!,
      );
    const own = Object.entries(variables).map(([name, value]) => [
      name,
      input(String(value)).replaceAll('$CI_PROJECT_DIR', cwd),
    ]);
    const env = {
      ...{ CI_PROJECT_DIR: cwd, CI_API_V4_URL: api.url, CI_PROJECT_ID: '12', CI_MERGE_REQUEST_IID: '3' },
      ...{ CI_MERGE_REQUEST_DIFF_BASE_SHA: commits[0]!, GITLAB_CI: 'true', SLUICE_CI_TOKEN: 'glpat-token' },
      ...{ PATH: `${npm}:${dirname(process.execPath)}:/usr/bin:/bin`, ...Object.fromEntries(own) },
    };
    const lines = script.map(input).join('\n');
    const broken = await shell(lines, { cwd, env });
    expect(broken).toMatchObject({ code: 2, output: expect.stringContaining('CONFIG') });
    expect(await readFile(join(npm, 'arguments'), 'utf8')).toMatch(/--ignore-scripts.* \S*\/sluice\.tgz$/m);
    const report = JSON.parse(await readFile(join(cwd, artifacts.reports.codequality), 'utf8')) as unknown[];
    expect(report).toMatchObject([{ severity: 'major', location: { path: 'sluice.yaml', lines: { begin: 8 } } }]);
    expect(api.requests.at(-1)).toBe('POST /projects/12/merge_requests/3/notes glpat-token');
    await commit({ 'sluice.yaml': configWith(job('every 2h')) });
    expect(await shell(lines, { cwd, env })).toMatchObject({ code: 0 });
    expect(api.requests.at(-1)).toBe('PUT /projects/12/merge_requests/3/notes/100 glpat-token');
    for (const path of artifacts.paths)
      expect(await readFile(join(cwd, path), 'utf8')).toContain('every 1h → every 2h');
  });
});
