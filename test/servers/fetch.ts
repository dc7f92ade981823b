import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const maxOutputBytes = 16 * 1024 * 1024;
/** Ends a tool that waits forever. Even slow downloads need less. */
const timeout = 15 * 60_000;

/** Where servers from registries are kept between runs. SLUICE_TEST_CACHE sets a different folder. */
function cacheFolder(): string {
  const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return process.env.SLUICE_TEST_CACHE ?? join(caches, 'sluice-test-servers');
}

/**
 * The folder with this name in the cache. On the first call, `make` fills an empty folder, which then takes its place
 * atomically: a failed download leaves nothing behind, and if two processes fill the folder at once, one result counts.
 */
export async function cached(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const cache = cacheFolder();
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, `.${name}-`));
  try {
    await make(fresh);
    await rename(fresh, folder);
  } catch (failure) {
    await rm(fresh, { recursive: true, force: true });
    if (!existsSync(folder)) throw failure;
  }
  return folder;
}

/** Runs a program to its end; fails with its output. */
export async function runTool(program: string, args: readonly string[]): Promise<void> {
  await run(program, args, { maxBuffer: maxOutputBytes, timeout }).catch(
    (failure: { stdout?: string; stderr?: string }) => {
      const printed = `${failure.stdout ?? ''}${failure.stderr ?? ''}`.trim().split('\n').slice(-12).join('\n');
      throw new Error(`${program} ${args[0]} failed: ${printed}`, { cause: failure });
    },
  );
}

export interface MavenFile {
  readonly group: string;
  readonly artifact: string;
  readonly version: string;
  /** The jar's hash, in hexadecimal. */
  readonly sha256: string;
}

/** Copies an artifact's jar from Maven's registry to the folder, checks its hash, and returns its path. */
export async function fetchMavenJar({ group, artifact, version, sha256 }: MavenFile, folder: string): Promise<string> {
  const coordinates = `${group}:${artifact}:${version}`;
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
  const args = [`-Dartifact=${coordinates}`, `-DoutputDirectory=${folder}`, '-Dmdep.overWriteReleases=true'];
  await runTool('mvn', [goal, '--quiet', '--batch-mode', ...args]);
  const jar = join(folder, `${artifact}-${version}.jar`);
  const found = await hashOf(jar);
  if (found !== sha256) throw new Error(`${coordinates} has another hash than expected: ${found}`);
  return jar;
}

/**
 * Copies the jars that a project's `pom.xml` names, and those that they need, from Maven's registry to the folder.
 * `sha256` is the hash of what `sha256sum` prints for the jars, sorted by name.
 */
export async function fetchMavenProject(pom: string, { folder, sha256 }: { folder: string; sha256: string }) {
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
  await runTool('mvn', ['-f', pom, goal, '--quiet', '--batch-mode', `-DoutputDirectory=${folder}`]);
  const hash = createHash('sha256');
  for (const jar of (await readdir(folder)).sort()) hash.update(`${await hashOf(join(folder, jar))}  ${jar}\n`);
  const found = hash.digest('hex');
  if (found !== sha256) throw new Error(`the jars of ${pom} have another hash than expected: ${found}`);
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
