import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Home } from '../journey/home.ts';
import type { Start } from '../journey/process.ts';
import { type DiskStep, logged, readDiskLog } from './disk-log.ts';

/** Changes that weren't made durable: they exist now but may be lost in a power failure. */
interface Unsafe<T> {
  readonly to: number;
  readonly change: (content: T) => T;
}

class Kept<T> {
  #safe: T;
  #unsafe: Unsafe<T>[] = [];

  constructor(safe: T) {
    this.#safe = safe;
  }

  /** What every process sees as long as there is power. */
  get present(): T {
    return this.after(() => true);
  }

  do(to: number, change: (content: T) => T): void {
    this.#unsafe.push({ to, change });
  }

  /** Changes before `from` can no longer be lost. */
  sync(from: number): void {
    for (const { to, change } of this.#unsafe) if (to < from) this.#safe = change(this.#safe);
    this.#unsafe = this.#unsafe.filter(({ to }) => to >= from);
  }

  /** What exists if, of everything that wasn't made durable, only this survives. */
  after(survives: () => boolean): T {
    return this.#unsafe.filter(survives).reduce((content, { change }) => change(content), this.#safe);
  }
}

class File extends Kept<Buffer> {
  constructor(bytes: Buffer = Buffer.alloc(0)) {
    super(bytes);
  }
}

class Folder extends Kept<ReadonlyMap<string, Node>> {
  constructor(entries: ReadonlyMap<string, Node> = new Map()) {
    super(entries);
  }
}

type Node = File | Folder;

/**
 * A disk that keeps only what it must keep: a file's contents are durable after the file was synced, its name after its
 * folder was synced, and the two are separate (fsync(2)). Everything that existed before is durable. What one process
 * does below a home is tracked, and {@link lose} simulates the power failure.
 */
export class LosingDisk {
  readonly #home: string;
  readonly #log: string;
  #root = new Folder();

  constructor({ folder }: Pick<Home, 'folder'>) {
    this.#home = folder;
    this.#log = join(folder, 'disk.log');
  }

  /** The same start, with the disk tracking it. */
  watch(how: Start = {}): Start {
    const state = join(this.#home, 'state');
    this.#root = new Folder(existsSync(state) ? new Map([['state', read(state)]]) : new Map());
    return { ...how, ...logged(this.#log) };
  }

  /**
   * Simulates the power failure after the process has ended. `survives` decides which changes exist although they
   * weren't durable.
   */
  lose(survives: () => boolean = () => false): void {
    for (const step of readDiskLog(this.#log, this.#home)) {
      if (/^(state(\/|$)|$)/.test(relative(this.#home, step.path))) this.#take(step);
    }
    rmSync(this.#log);
    rmSync(join(this.#home, 'state'), { recursive: true, force: true });
    write(this.#root, this.#home, survives);
  }

  #take(step: DiskStep): void {
    const { path, from, to } = step;
    if (step.what === 'sync') {
      this.#find(path)?.sync(from);
      return;
    }
    const folder = this.#find(dirname(path)) as Folder;
    const [name, node] = [basename(path), this.#find(path)];
    const enter = (entry: Node) => folder.do(to, (entries) => new Map([...entries, [name, entry]]));
    if (step.what === 'mkdir') enter(new Folder());
    else if (step.what === 'create') {
      if (node === undefined) enter(new File());
      else if (step.empties) (node as File).do(to, () => Buffer.alloc(0));
    } else if (step.what === 'remove') {
      folder.do(to, (entries) => new Map([...entries].filter(([key]) => key !== name)));
    } else if (step.what === 'rename') rename(folder, step, node!);
    else if (node instanceof File) change(node, step);
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of relative(this.#home, path).split(sep)) {
      if (name !== '') node = (node as Folder | undefined)?.present.get(name);
    }
    return node;
  }
}

function rename(folder: Folder, { path, onto, to }: DiskStep & { what: 'rename' }, node: Node): void {
  if (dirname(onto) !== dirname(path)) throw new Error(`unknown effect of moving ${path} to ${onto}`);
  folder.do(to, (entries) => {
    const others = [...entries].filter(([key]) => key !== basename(path));
    return new Map([...others, [basename(onto), node]]);
  });
}

function change(file: File, step: DiskStep): void {
  const { to } = step;
  if (step.what === 'cut') file.do(to, (bytes) => sized(bytes, step.size).subarray(0, step.size));
  if (step.what !== 'write') return;
  const at = step.at ?? file.present.length;
  file.do(to, (bytes) => {
    const whole = Buffer.from(sized(bytes, at + step.bytes.length));
    step.bytes.copy(whole, at);
    return whole;
  });
}

/** The bytes, at least this many; bytes that weren't written are zeros. */
function sized(bytes: Buffer, size: number): Buffer {
  return bytes.length >= size ? bytes : Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]);
}

function read(path: string): Folder {
  const entries = readdirSync(path, { withFileTypes: true }).map((entry): [string, Node] => {
    const at = join(path, entry.name);
    return [entry.name, entry.isDirectory() ? read(at) : new File(readFileSync(at))];
  });
  return new Folder(new Map(entries));
}

/** The file next to the database that SQLite's processes share is only memory, so it's lost in a power failure. */
const isMemory = (name: string) => name.endsWith('-shm');

function write(folder: Folder, path: string, survives: () => boolean): void {
  for (const [name, node] of folder.after(survives)) {
    const at = join(path, name);
    if (node instanceof Folder) {
      mkdirSync(at, { mode: 0o700 });
      write(node, at, survives);
    } else if (!isMemory(name)) writeFileSync(at, node.after(survives), { mode: 0o600 });
  }
}
