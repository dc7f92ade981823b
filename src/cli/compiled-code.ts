import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** The folder of the built files. */
const dist = fileURLToPath(new URL('../../', import.meta.url));

type Extension = (module: NodeJS.Module, file: string) => void;

/**
 * Whether the folder belongs to this user and no other user can write to it. This matters because the compiled code in
 * it is executed.
 */
function isOurs(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return uid === process.getuid?.() && (mode & 0o022) === 0;
}

const dayMs = 86_400_000;
/** Code that hasn't been used for this long is deleted. Its build was probably replaced. */
const maxUnusedMs = 30 * dayMs;

/**
 * Once a day, updates the folder's modification time to record that its code is in use, and deletes the folders of
 * builds that are no longer used. If such a build runs again, its code is compiled again.
 */
function sweepOthers(folder: string, { isNew }: { readonly isNew: boolean }): void {
  const now = Date.now();
  if (!isNew && now - statSync(folder).mtimeMs < dayMs) return;
  utimesSync(folder, now / 1000, now / 1000);
  const all = dirname(folder);
  if (!isOurs(all)) return;
  for (const entry of readdirSync(all, { withFileTypes: true })) {
    const other = join(all, entry.name);
    if (entry.isDirectory() && now - statSync(other).mtimeMs > maxUnusedMs)
      rmSync(other, { recursive: true, force: true });
  }
}

const checksumBytes = 4;

/**
 * Returns undefined if the file is missing or damaged. The check is necessary, because V8 would execute damaged code.
 */
function readChecked(file: string): Buffer | undefined {
  try {
    const stored = readFileSync(file);
    const code = stored.subarray(checksumBytes);
    return stored.readUInt32LE() === crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

const head = '(function (exports, require, module, __filename, __dirname) { ';

/** Compiles a file in such a way that stack traces show positions in that file. */
function compile(file: string, text: string, cachedData: Buffer | undefined): Script {
  return new Script(`${head}${text}\n})`, { filename: file, columnOffset: -head.length, cachedData });
}

/**
 * Whether a script uses `import()`. In a script that Node didn't load itself, `import()` is experimental and causes a
 * warning.
 */
const imports = (text: string): boolean => text.includes('import(');

/**
 * Caches the compiled code of the package's files. The cache is written at the end of a run, so it includes the
 * functions that the run called. Node's own cache only includes the code that is compiled when a file is loaded, so
 * startup would be slower. V8 rejects code that another version of V8 compiled, but doesn't notice if the code was
 * compiled from a different source. The folder's name therefore contains the build stamp.
 */
export class CompiledCode {
  readonly #cache: string;
  readonly #loaded = new Map<string, Script>();
  #folder: string | undefined;
  #isComplete = true;

  constructor(cache: string) {
    this.#cache = cache;
  }

  /**
   * Makes `require` use the compiled code. If `compiles` is true, files without cached code are compiled, so that
   * {@link save} can store their code. Otherwise, Node loads them. Returns a function that loads a file by its path
   * below dist/.
   */
  install({ compiles }: { readonly compiles: boolean }): (path: string) => unknown {
    this.#folder = this.#open();
    const require = createRequire(import.meta.url);
    const extensions = require.extensions as unknown as Record<string, Extension>;
    const load = extensions['.js']!;
    extensions['.js'] = (module, file) => {
      if (!file.startsWith(dist)) return load(module, file);
      const cachedData = this.#find(file);
      if (cachedData === undefined && !compiles) return load(module, file);
      const text = readFileSync(file, 'utf8');
      if (cachedData === undefined && imports(text)) return load(module, file);
      const script = compile(file, text, cachedData);
      if (cachedData === undefined || script.cachedDataRejected === true) this.#isComplete = false;
      this.#loaded.set(file, script);
      const run = script.runInThisContext() as (...given: unknown[]) => void;
      run.call(module.exports, module.exports, createRequire(file), module, file, dirname(file));
    };
    return (path) => require(join(dist, path));
  }

  /**
   * Stores the code of all loaded files if any of them had no compiled code. If the folder can't be written, the next
   * run compiles these files again.
   */
  save(): void {
    if (this.#isComplete || this.#folder === undefined) return;
    try {
      for (const [file, script] of this.#loaded)
        writeChecked(join(this.#folder, nameOf(file)), script.createCachedData());
    } catch {
      // The disk is full or read-only.
    }
  }

  /** The cache folder for this build and this version of Node; undefined if no cache folder can be used. */
  #open(): string | undefined {
    try {
      const { content } = JSON.parse(readFileSync(join(dist, 'build.json'), 'utf8')) as { content: string };
      const folder = join(this.#cache, 'code', `${content}-${process.version}-${process.arch}`);
      const isNew = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
      if (!isOurs(folder)) return undefined;
      sweepOthers(folder, { isNew });
      return folder;
    } catch {
      return undefined;
    }
  }

  #find(file: string): Buffer | undefined {
    return this.#folder === undefined ? undefined : readChecked(join(this.#folder, nameOf(file)));
  }
}

const nameOf = (file: string): string => relative(dist, file).replaceAll('/', '+');

/** The file is replaced atomically, because other processes may read it at any time. */
function writeChecked(file: string, code: Buffer): void {
  const part = join(dirname(file), `.${basename(file)}.${process.pid}`);
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32LE(crc32(code));
  writeFileSync(part, Buffer.concat([checksum, code]), { mode: 0o600 });
  renameSync(part, file);
}
