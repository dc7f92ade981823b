import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Copy, DockerfileParser, Env, From, type Instruction, JSONInstruction } from 'dockerfile-ast';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

/** A stage of the Dockerfile: its base image and its steps. */
export interface Stage {
  readonly name: string;
  readonly image: string;
  readonly steps: readonly Instruction[];
}

export const readDockerfile = (): Promise<string> => readFile(join(root, 'Dockerfile'), 'utf8');

export function stagesOf(text: string): Stage[] {
  const stages: { name: string; image: string; steps: Instruction[] }[] = [];
  for (const step of DockerfileParser.parse(text).getInstructions()) {
    if (step instanceof From) {
      stages.push({ name: step.getBuildStage() ?? String(stages.length), image: step.getImage() ?? '', steps: [] });
    } else stages.at(-1)?.steps.push(step);
  }
  return stages;
}

/** The words of an exec-form instruction; undefined if it's a shell command. */
export function wordsOf(step: Instruction | undefined): string[] | undefined {
  if (!(step instanceof JSONInstruction) || step.getOpeningBracket() === null) return undefined;
  return step.getJSONStrings().map((one) => one.getJSONValue());
}

/** A folder that simulates an image's root after its last step. */
export interface Image {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** The path on this machine that replaces a path in the image. */
  at(path: string): string;
}

export interface BuildGiven {
  /** An empty folder; each stage becomes a folder in it. */
  readonly into: string;
  /** The image folders that the steps use. In commands, they are replaced with those in `into`. */
  readonly folders: readonly string[];
}

/**
 * Executes a Dockerfile without Docker. Each COPY copies, and each RUN runs with the image's folders replaced, with
 * this process's Node, and with only those files of this checkout that .dockerignore includes. If the tests run as
 * root, commands run as the image's user; otherwise, as the current user.
 */
export async function carryOut(text: string, given: BuildGiven): Promise<Image> {
  const built = new Map<string, Image>();
  let image: Image | undefined;
  for (const stage of stagesOf(text)) {
    image = await carryOutStage(stage, { ...given, built });
    built.set(stage.name, image);
  }
  if (image === undefined) throw new Error('the Dockerfile has no stage');
  return image;
}

async function carryOutStage(
  { name, steps }: Stage,
  { into, folders, built }: BuildGiven & { built: ReadonlyMap<string, Image> },
): Promise<Image> {
  const home = join(into, name);
  const at = (path: string): string => join(home, path);
  const env: Record<string, string> = {};
  let here = '/';
  let user: { uid: number; gid: number } | undefined;
  for (const step of steps) {
    const keyword = step.getKeyword();
    const line = step.getArgumentsContent() ?? '';
    if (keyword === 'WORKDIR') {
      here = line;
      await mkdir(at(here), { recursive: true });
    } else if (step instanceof Env) {
      for (const property of step.getProperties()) env[property.getName()] = mapped(property.getValue() ?? '');
    } else if (keyword === 'USER') user = userOf(line);
    else if (step instanceof Copy) await copy(step, { to: at(here), built });
    else if (keyword === 'RUN' && line === installation) await copyInstallation(at(here));
    else if (keyword === 'RUN') await runStep(mapped(line), { cwd: at(here), home, env, user });
  }
  return { root: home, env, at };

  function mapped(words: string): string {
    const own = process.getuid?.() === 0 ? '1000:1000' : `${process.getuid?.()}:${process.getgid?.()}`;
    const places = new RegExp(`(?<=^|[\\s=])(?=(?:${folders.join('|')})(?:/|\\s|$))`, 'g');
    return words.replaceAll('1000:1000', own).replaceAll(places, home);
  }
}

/** The command that README.md says to run in a checkout. It takes as much CPU time as a hundred runs of Sluice. */
const installation = 'npm ci --ignore-scripts';

/** Copies what that command has installed in this checkout, without the caches that tests keep in the same folder. */
async function copyInstallation(folder: string): Promise<void> {
  const from = join(root, 'node_modules');
  const isInstalled = (name: string) => !name.startsWith('.') || ['.bin', '.package-lock.json'].includes(name);
  const names = (await readdir(from)).filter(isInstalled);
  await mkdir(join(folder, 'node_modules'));
  await run('cp', ['-a', ...names.map((name) => join(from, name)), join(folder, 'node_modules')]);
}

/** Only root can run as another user. */
function userOf(line: string): { uid: number; gid: number } | undefined {
  const [uid, gid] = line.split(':').map(Number);
  return process.getuid?.() === 0 ? { uid: uid!, gid: gid! } : undefined;
}

async function runStep(
  line: string,
  how: { cwd: string; home: string; env: Record<string, string>; user: { uid: number; gid: number } | undefined },
): Promise<void> {
  const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
  const env = { ...how.env, PATH, HOME: join(how.home, 'nobody') };
  // Files that npm has already downloaded aren't downloaded again.
  const cache = process.env.npm_config_cache ?? join(process.env.HOME ?? '/tmp', '.npm');
  await run('/bin/sh', ['-c', line], {
    cwd: how.cwd,
    env: how.user === undefined ? { ...env, npm_config_cache: cache, ...registry() } : env,
    maxBuffer: 1e8,
    ...how.user,
  }).catch(({ stdout, stderr }: { stdout: string; stderr: string }) => {
    throw new Error(`RUN ${line}\n${stdout}${stderr}`);
  });
}

/** The registry of this machine's npm. */
function registry(): Record<string, string> {
  const keep = Object.entries(process.env).filter(([name]) =>
    /^(npm_config_registry|https?_proxy|no_proxy|node_extra_ca_certs|npm_config_cafile)$/i.test(name),
  );
  const userconfig = join(process.env.HOME ?? '/tmp', '.npmrc');
  return { npm_config_userconfig: userconfig, ...Object.fromEntries(keep.map(([name, value]) => [name, value ?? ''])) };
}

async function copy(step: Copy, { to, built }: { to: string; built: ReadonlyMap<string, Image> }): Promise<void> {
  const from = step.getFromFlag()?.getValue();
  const words = step.getArguments().map((argument) => argument.getValue());
  const target = words.pop()!;
  for (const word of words) {
    const source = from === undefined || from === null ? join(root, word) : built.get(from)!.at(word);
    const isInside = target.endsWith('/') && basename(word) !== '.';
    const place = join(to, target, isInside ? basename(word) : '');
    if (word === '.') await copyContext(place);
    else await cp(source, place, { recursive: true, verbatimSymlinks: true });
  }
}

/**
 * The files that .dockerignore includes: everything is excluded first, then each line that starts with "!" includes
 * one.
 */
async function copyContext(place: string): Promise<void> {
  const lines = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n');
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (rules[0] !== '*' || rules.slice(1).some((rule) => !/^![\w./-]+$/.test(rule))) {
    throw new Error('.dockerignore has rules that this copy does not know');
  }
  for (const name of rules.slice(1).map((rule) => rule.slice(1))) {
    await cp(join(root, name), join(place, name), { recursive: true });
  }
}
