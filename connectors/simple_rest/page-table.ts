import {
  type Extraction,
  type HttpResponse,
  type RecordInput,
  type RecordOptions,
  type RecordReader,
  type RunWarning,
  recordReader,
  type SurveyAsk,
  type Surveyed,
} from '#sdk';
import type { FetchedPage } from './fetched-page.ts';
import { factColumnsOf, settingsOf, soapFailure } from './page-answer.ts';
import type { PagesOptions } from './pages-options.ts';
import { AskedBefore } from './paging.ts';

/** The table that consists of all pages, including those of all parents. */
export class PageTable {
  readonly asked = new AskedBefore();
  readonly warnings: RunWarning[] = [];
  readonly #init: Pick<PagesOptions, 'query' | 'warn' | 'keptColumns'>;
  #settings: RecordOptions | undefined;
  #reader: RecordReader | undefined;

  constructor(init: Pick<PagesOptions, 'query' | 'warn' | 'keptColumns'>) {
    this.#init = init;
  }

  /** How pages are parsed; undefined before the first one. */
  get settings(): RecordOptions | undefined {
    return this.#settings;
  }

  /** The first response determines how all pages are parsed. */
  async open(answer: HttpResponse): Promise<void> {
    if (this.#reader !== undefined) return;
    const { query, warn, keptColumns } = this.#init;
    this.#settings = { ...settingsOf(query, answer), warn, keptColumns };
    this.#reader = await recordReader(this.#settings);
  }

  /** Adds the records of a page, and finds the values that `ask` names. `number` is the page's number. */
  async survey(
    { answer, spooled }: FetchedPage,
    { input, ask, number }: { readonly input: RecordInput; readonly ask: SurveyAsk; readonly number: number },
  ): Promise<Surveyed> {
    const { format, encoding } = this.#settings!;
    // From the second page on, an empty csv body is a page without records.
    if (answer.status === 204 || (spooled.bytes === 0 && number > 1 && format === 'csv')) {
      ask.check?.(nothing);
      return nothing;
    }
    const isMaybeFault = format === 'xml' && this.#init.query.fail_when?.length !== 0;
    const fault = isMaybeFault ? await soapFailure(spooled, encoding, answer.url) : undefined;
    if (fault !== undefined) throw fault;
    return this.#reader!.survey(input, ask);
  }

  /** The table, after all pages have been added. */
  async extraction(): Promise<Extraction> {
    const { query, warn, keptColumns } = this.#init;
    for (const warning of this.warnings) warn(warning);
    // If there is no page, as with an empty window, there is no reader yet.
    const settings = { ...query, format: query.format ?? 'json', factColumns: factColumnsOf(query), keptColumns };
    this.#reader ??= await recordReader(settings);
    return this.#reader.extraction();
  }
}

const nothing: Surveyed = { records: 0, values: new Map() };
