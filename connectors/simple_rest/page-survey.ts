import { type Place, placeAmong, type Scope, type Surveyed, signPlaces } from '#sdk';
import type { FetchedPage, PageContent } from './fetched-page.ts';
import { parentFacts } from './for-each.ts';
import { headerValues } from './header-value.ts';
import { totalPlaces } from './more-pages.ts';
import { factsOf, failPathsOf, failureMessage } from './page-answer.ts';
import { pageFacts } from './page-columns.ts';
import { shapeProblem } from './page-problems.ts';
import type { PageTable } from './page-table.ts';
import type { PagesOptions } from './pages-options.ts';
import { placesOf } from './paging.ts';
import { pathFact } from './paths.ts';

type PageSurveyOptions = Pick<PagesOptions, 'query' | 'log' | 'preview'>;

const maxPageBytes = 8 * 1024 * 1024;

/** Reads what paging and checks need from each page: its values and its number of records. */
export class PageSurvey {
  readonly #init: PageSurveyOptions;
  readonly #table: PageTable;
  readonly #failPaths: ReturnType<typeof failPathsOf>;
  readonly #places: readonly Place[];

  constructor(init: PageSurveyOptions, table: PageTable) {
    this.#init = init;
    this.#table = table;
    const { query } = init;
    this.#failPaths = failPathsOf(query);
    const failPlaces = this.#failPaths.map((one) => (typeof one === 'string' ? one : one.path));
    const places = new Set([...placesOf(query.paging), ...failPlaces, ...Object.values(query.page_columns)]);
    this.#places = [...places].map((place) => placeAmong(place, query.records ?? ''));
  }

  /**
   * Reads the values and counts the records of the page with this number. Throws if the page reports a failure or lacks
   * what the query expects.
   */
  async read(page: FetchedPage, scope: Scope, number: number): Promise<PageContent> {
    const { answer, spooled } = page;
    const { query, log, preview } = this.#init;
    const isPaged = query.paging.kind !== 'none';
    // The search needs a pass over the data, so larger responses aren't searched. A page is never that large.
    const signs = query.records && (isPaged || spooled.bytes < maxPageBytes) ? signPlaces : [];
    const hasTotals = preview !== undefined && signs.length > 0 && query.records !== '$';
    const totals = hasTotals ? totalPlaces : [];
    const inBody = this.#places.flatMap(({ text, from }) => (from === 'header' ? [] : [text]));
    const ask = { count: isPaged || preview !== undefined, values: [...inBody, ...signs, ...totals] };
    const facts = { ...pathFact(query, scope), ...parentFacts(query, scope.parent), ...factsOf(query, answer) };
    const input = { ...spooled.input, facts };
    const inHeaders = headerValues(this.#places, answer);
    const valuesOf = (found: Surveyed) => (place: string) =>
      inHeaders.has(place) ? inHeaders.get(place) : found.values.get(place);
    const check = (found: Surveyed) => {
      const valueAt = valuesOf(found);
      const failure = failureMessage(this.#failPaths, valueAt, answer.url) ?? found.refused;
      const problem = failure ?? shapeProblem(found, query, answer.url);
      if (problem !== undefined) throw problem;
      Object.assign(facts, pageFacts(query, { ...found, valueAt, url: answer.url }));
    };
    const found = await this.#table.survey(page, { input, ask: { ...ask, check }, number });
    const { records = 0, nearby } = found;
    log.debug('page read', { page: number, records, bytes: spooled.bytes });
    return { records, valueAt: valuesOf(found), nearby };
  }
}
