import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { decryptText, encryptText } from '../../lib/aes-gcm.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { openScratchFile } from '../../lib/scratch-file.ts';
import type { AttemptFacts } from '../connector.ts';
import type { HttpResponse } from './client.ts';
import type { PageSpool, SpooledPage } from './page-spool.ts';

/** A page that was read: by this attempt or an earlier one. */
export interface JournalPage {
  readonly answer: Pick<HttpResponse, 'url' | 'status' | 'headers'>;
  readonly spooled: SpooledPage;
}

interface PageJournalOptions {
  readonly spool: PageSpool;
  /** The run's private folder. */
  readonly scratch: string;
  /** What the run's attempts share. */
  readonly facts: AttemptFacts & { readonly folder: string };
}

/** An entry in the journal. */
interface Entry {
  /** A hash of the request without credentials. */
  readonly request: string;
  readonly url: string;
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  readonly start: number;
  readonly end: number;
  readonly sha256: string;
}

/** Key of the journal's encryption key in the attempt facts. */
const factsKey = 'pages';
const fileName = 'pages.journal';

/**
 * Lists the pages in a spool by their requests, so that a run's next attempt doesn't request them again. After a failed
 * attempt, the spool and the journal are moved to the folder that the attempts share. URLs and headers can contain
 * secrets, so the journal is encrypted, with a key in the attempt facts. It's thus useless as soon as the run has ended,
 * or the job or its login has changed.
 */
export class PageJournal {
  readonly #options: PageJournalOptions;
  /** The lines of the pages of earlier attempts, by request. A run never sends the same request twice. */
  readonly #lines = new Map<string, { readonly start: number; readonly end: number }>();
  #key: Buffer;
  #file: FileHandle | undefined;
  #end = 0;
  #taken = 0;

  private constructor(options: PageJournalOptions) {
    this.#options = options;
    const key = options.facts.texts.get(factsKey);
    this.#key = key === undefined ? randomBytes(32) : Buffer.from(key, 'base64');
  }

  /** Opens the journal with the pages of the run's earlier attempts, if there are any on this machine. */
  static async open(options: PageJournalOptions): Promise<PageJournal> {
    const journal = new PageJournal(options);
    const { facts, spool } = options;
    if (!facts.texts.has(factsKey)) return journal;
    try {
      await spool.moveFrom(facts.folder);
      await rename(join(facts.folder, fileName), journal.#path);
      await journal.#load();
    } catch {
      // Another machine has the files, or they're damaged: all pages are requested again.
      await journal.clear();
    }
    return journal;
  }

  /** Number of pages of earlier attempts that haven't been taken. */
  get earlier(): number {
    return this.#lines.size;
  }

  /** Number of pages that were taken from earlier attempts. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes the page that an earlier attempt got for this request; undefined if there's none, or if it's damaged. */
  async take(request: string): Promise<JournalPage | undefined> {
    const line = this.#lines.get(request);
    if (line === undefined) return undefined;
    this.#lines.delete(request);
    const entry = await this.#read(line);
    const spooled = await this.#options.spool.find(entry);
    if (spooled === undefined) return undefined;
    this.#taken += 1;
    const { url, status, headers } = entry;
    return { answer: { url: new URL(url), status, headers }, spooled };
  }

  /** Adds a page. Call this only for pages without errors, in the order in which the next attempt requests them. */
  async add(request: string, { answer, spooled }: JournalPage): Promise<void> {
    const { bytes, end, sha256 } = spooled;
    const { 'set-cookie': _, ...headers } = answer.headers;
    const entry: Entry = {
      request,
      url: answer.url.href,
      status: answer.status,
      headers,
      start: end - bytes,
      end,
      sha256,
    };
    this.#options.facts.texts.set(factsKey, this.#key.toString('base64'));
    this.#file ??= await openScratchFile(this.#path);
    const line = Buffer.from(`${encryptText(JSON.stringify(entry), this.#key)}\n`);
    await this.#file.write(line, 0, line.length, this.#end);
    this.#end += line.length;
  }

  /** Forgets all pages. */
  async clear(): Promise<void> {
    this.#lines.clear();
    await this.close();
    this.#end = 0;
    this.#taken = 0;
    this.#key = randomBytes(32);
    this.#options.facts.texts.delete(factsKey);
  }

  /** Keeps the pages for the run's next attempt. Call this after the attempt failed, instead of {@link close}. */
  async keep(): Promise<void> {
    await this.close();
    const { facts, spool } = this.#options;
    if (this.#end === 0) return;
    try {
      makeFolder(facts.folder, 0o700);
      await spool.moveTo(facts.folder);
      await rename(this.#path, join(facts.folder, fileName));
    } catch {
      // The runner has already removed the files of a run that was stopped. The next attempt requests all pages.
      facts.texts.delete(factsKey);
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  get #path(): string {
    return join(this.#options.scratch, fileName);
  }

  /** Lists the pages of earlier attempts. */
  async #load(): Promise<void> {
    this.#file = await open(this.#path, 'r+');
    let end = 0;
    let start = 0;
    for await (const text of this.#file.readLines({ autoClose: false, start: 0 })) {
      const entry = this.#decrypt(text);
      const next = start + text.length + 1;
      this.#lines.set(entry.request, { start, end: next - 1 });
      start = next;
      end = Math.max(end, entry.end);
    }
    this.#end = start;
    await this.#options.spool.resume(end);
  }

  async #read({ start, end }: { start: number; end: number }): Promise<Entry> {
    const { buffer } = await this.#file!.read(Buffer.alloc(end - start), 0, end - start, start);
    return this.#decrypt(buffer.toString('latin1'));
  }

  #decrypt(line: string): Entry {
    return JSON.parse(decryptText(line, this.#key)) as Entry;
  }
}
