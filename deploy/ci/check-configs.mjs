// Checks Sluice configs in a job of GitHub Actions or GitLab CI: `check`, `config diff` and `simulate`, without
// secrets. Writes a summary in Markdown, marks the lines with errors, and updates its comment on the pull or merge
// request. docs/ci.md has the variables. Exit code: 2 if a config has errors, 1 if its requests no longer fit,
// otherwise 0. Runs on Node 20 and newer.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { env } = process;
const setting = (name, fallback) => env[`SLUICE_CI_${name}`] || fallback;
const sluiceCommand = setting('COMMAND', 'sluice');
const token = setting('TOKEN', '');
/** A comment of GitHub has at most 65,536 characters. */
const maxComment = 60_000;

/** A config can load connectors, which are code of the pull request: they don't get the token. */
const { SLUICE_CI_TOKEN: _, ...childEnv } = env;

/** Runs a program to its end; never rejects because of its exit code. */
function run(program, args) {
  return new Promise((resolve, reject) => {
    const options = { env: childEnv, maxBuffer: 64 * 1024 * 1024 };
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

/** The repository may belong to another user than this process, as in containers. */
async function git(...args) {
  const { code, stdout, stderr } = await run('git', ['-c', `safe.directory=${process.cwd()}`, ...args]);
  if (code !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr.trim()}`);
  return stdout.trim();
}

/** Config files of the setting, with globs expanded to files that git knows. */
async function findConfigs() {
  const lines = setting('CONFIG', 'sluice.yaml').split('\n');
  const found = [];
  for (const line of lines.map((one) => one.trim()).filter(Boolean)) {
    const files = line.includes('*') ? (await git('ls-files', '-z', '--', `:(glob)${line}`)).split('\0') : [line];
    if (files.join('') === '') throw new Error(`No file matches ${line}`);
    found.push(...files.filter(Boolean));
  }
  return [...new Set(found)];
}

/** The commit to compare with: what the request would be merged into, or what was there before a push. */
async function findBase() {
  if (env.CI_MERGE_REQUEST_DIFF_BASE_SHA) return env.CI_MERGE_REQUEST_DIFF_BASE_SHA;
  if (!env.GITHUB_EVENT_PATH) return env.CI_COMMIT_BEFORE_SHA;
  const {
    pull_request: request,
    merge_group: group,
    before,
  } = JSON.parse(await readFile(env.GITHUB_EVENT_PATH, 'utf8'));
  // The checked out commit merges the request into a base that may be newer than the event.
  const merged = request && (await git('rev-parse', '--verify', '--quiet', 'HEAD^2').catch(() => ''));
  if (merged && merged === request.head.sha) return git('rev-parse', 'HEAD^1');
  return request?.base.sha ?? group?.base_sha ?? before;
}

/** A folder with the files of the base; undefined if there is none, as for the first push of a branch. */
async function checkoutBase(folder) {
  const base = await findBase();
  if (!base || /^0+$/.test(base)) return undefined;
  const isHere = await git('cat-file', '-e', `${base}^{commit}`).then(
    () => true,
    () => false,
  );
  if (!isHere) await git('fetch', '--no-tags', '--depth=1', 'origin', base);
  const path = join(folder, 'base');
  await git('worktree', 'add', '--detach', '--force', path, base);
  return path;
}

const sluice = (...args) => run(sluiceCommand, args);

/** The result of one config: its part of the summary, its problems, and its exit code. */
async function checkConfig(config, base) {
  const title = `### Sluice: ${code(config)}`;
  const earlier = base === undefined ? '/dev/null' : join(base, config);
  if (!existsSync(config) && existsSync(earlier))
    return { text: `${title}\n\nThe config was removed.`, problems: [], code: 0 };
  const checked = await sluice('check', '--without-secrets', '--json', '--config', config);
  const document = checked.stdout.startsWith('{') ? JSON.parse(checked.stdout) : undefined;
  if (document === undefined) return { text: `${title}\n\n${pre(checked.stderr)}`, problems: [], code: 2 };
  const problems = [
    ...document.problems.map((one) => ({ ...one, level: 'error' })),
    ...document.warnings.map((one) => ({ ...one, level: 'warning' })),
  ];
  const parts = [title, ...problemTexts(problems)];
  let exitCode = document.problems.length > 0 ? 2 : checked.code;
  const common = ['--without-secrets', '--config', config];
  const diff = await sluice('config', 'diff', existsSync(earlier) ? earlier : '/dev/null', ...common, '--markdown');
  parts.push(diff.stdout || pre(diff.stderr));
  exitCode = Math.max(exitCode, diff.code);
  const days = setting('DAYS', '2');
  if (exitCode < 2 && days !== '0') {
    const simulated = await sluice('simulate', '--days', days, ...common);
    const nothing = simulated.stderr.includes('SIMULATE_NOTHING');
    if (!nothing) parts.push(folded(`Simulation of the next ${days} days`, simulated.stdout || simulated.stderr));
  }
  return { text: parts.join('\n\n'), problems, code: exitCode };
}

function problemTexts(problems) {
  return problems.length === 0 ? [] : [problems.map(problemText).join('\n')];
}

function problemText({ level, code: name, message, where = {}, next }) {
  const place = where.line === undefined ? '' : ` (line ${where.line})`;
  const fix = next === undefined ? '' : `<br>${plain(next)}`;
  return `- **${level}** ${code(name)}${place}: ${plain(message)}${fix}`;
}

/** Text without markup or mentions. */
function plain(text) {
  const flat = String(text).replaceAll(/\s+/g, ' ');
  return `<span>${flat.replaceAll(/[&<>|`\\*_~[\]#:!]/g, (mark) => `&#${mark.codePointAt(0)};`).replaceAll('@', '@\u200b')}</span>`;
}

const code = (text) => plain(text).replaceAll('span>', 'code>');
const pre = (text) => `<pre>${String(text).trim().replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre>`;
const folded = (title, text) => `<details><summary>${title}</summary>\n\n${pre(text)}\n\n</details>`;

/** Marks the lines of problems: GitHub reads commands in the log, GitLab a report. */
async function mark(results) {
  const found = results.flatMap(({ config, problems }) => problems.map((one) => ({ config, ...one })));
  if (env.GITHUB_ACTIONS) {
    const value = (text) => String(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
    const property = (text) => value(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
    for (const { config, level, code: name, message, where = {} } of found)
      process.stdout.write(
        `::${level} file=${property(config)},line=${where.line ?? 1},title=${property(name)}::${value(message)}\n`,
      );
  }
  if (setting('CODE_QUALITY')) {
    const report = found.map(({ config, level, code: name, message, where = {} }) => ({
      description: message,
      check_name: name,
      fingerprint: createHash('sha256').update(`${config} ${name} ${message}`).digest('hex'),
      severity: level === 'error' ? 'major' : 'minor',
      location: { path: config, lines: { begin: where.line ?? 1 } },
    }));
    await writeFile(setting('CODE_QUALITY'), JSON.stringify(report));
  }
}

/** The comments of the request; undefined without a request or a token. */
async function commentsOf() {
  if (!token || setting('COMMENT', 'true') !== 'true') return undefined;
  if (env.CI_MERGE_REQUEST_IID) {
    const notes = `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}/merge_requests/${env.CI_MERGE_REQUEST_IID}/notes`;
    return { list: notes, at: (id) => `${notes}/${id}`, update: 'PUT', headers: { 'private-token': token } };
  }
  if (!env.GITHUB_EVENT_PATH) return undefined;
  const { pull_request: request } = JSON.parse(await readFile(env.GITHUB_EVENT_PATH, 'utf8'));
  if (request === undefined) return undefined;
  const issues = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}/issues`;
  const headers = { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' };
  return {
    list: `${issues}/${request.number}/comments`,
    at: (id) => `${issues}/comments/${id}`,
    update: 'PATCH',
    headers,
  };
}

async function request(url, { headers, method = 'GET', body }) {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'sluice-ci' },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  if (!answer.ok) throw new Error(`${method} ${url}: HTTP ${answer.status}`);
  return answer.json();
}

/** Updates the comment of an earlier run, or writes the first one. */
async function comment(summary) {
  const comments = await commentsOf();
  if (comments === undefined) return 'no comment: no request, or no token';
  // If several workflows check one request, each has its own comment.
  const mark = `<!-- sluice-config ${createHash('sha256').update(setting('CONFIG', 'sluice.yaml')).digest('hex').slice(0, 16)} -->`;
  const short =
    summary.length > maxComment ? `${summary.slice(0, maxComment)}\n\n…\n\nThe job's summary has the rest.` : summary;
  const body = { body: `${mark}\n${short}` };
  const { list, at, update, headers } = comments;
  for (let page = 1; ; page++) {
    const some = await request(`${list}?per_page=100&page=${page}`, { headers });
    const own = some.find((one) => one.body?.startsWith(mark));
    if (own !== undefined) {
      await request(at(own.id), { headers, method: update, body });
      return 'updated the comment';
    }
    if (some.length < 100) break;
  }
  await request(list, { headers, method: 'POST', body });
  return 'wrote a comment';
}

async function publish(summary) {
  // GitHub would read lines of it as commands.
  if (!env.GITHUB_ACTIONS) process.stdout.write(`${summary}\n`);
  const file = setting('SUMMARY');
  if (file) await writeFile(file, `${summary}\n`);
  if (env.GITHUB_STEP_SUMMARY) await appendFile(env.GITHUB_STEP_SUMMARY, `${summary}\n`);
  if (env.GITHUB_OUTPUT && file) await appendFile(env.GITHUB_OUTPUT, `summary=${file}\n`);
  // A fork's token can't write, and an API outage says nothing about the config.
  const said = await comment(summary).catch((error) => `no comment: ${error.message}`);
  process.stdout.write(`${said}\n`);
}

async function main() {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-ci-'));
  try {
    const base = await checkoutBase(folder);
    const results = [];
    for (const config of await findConfigs()) results.push({ config, ...(await checkConfig(config, base)) });
    await mark(results);
    await publish(results.map(({ text }) => text).join('\n\n'));
    const worst = Math.max(...results.map((one) => one.code));
    process.exitCode = worst === 1 && setting('OVER_BUDGET', 'fail') === 'warn' ? 0 : worst;
  } finally {
    await git('worktree', 'remove', '--force', join(folder, 'base')).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
