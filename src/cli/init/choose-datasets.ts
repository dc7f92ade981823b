import { didYouMean } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';
import type { Dataset } from '../../sdk/dataset.ts';
import type { ChosenDataset } from './first-config.ts';

/** Asks the user one question. Resolves to an empty string if there is no answer. */
export type Ask = (question: string) => Promise<string>;

interface ChooseOptions {
  /** Names of datasets from the command line. */
  readonly tables: readonly string[];
  /** Whether to answer yes to every question. */
  readonly yes: boolean;
  /** Asks the user a question. Absent if there's no terminal. */
  readonly ask: Ask | undefined;
}

/**
 * Returns the datasets to create jobs for; empty if the user chose none. Throws `INIT_CHOOSE` if there's no user to
 * ask.
 */
export async function chooseDatasets(
  found: readonly Dataset[],
  { tables, yes, ask }: ChooseOptions,
): Promise<readonly ChosenDataset[]> {
  const usable = found.filter(({ problem }) => problem === undefined);
  if (tables.length > 0) return withCursors(named(tables, usable), yes ? undefined : ask);
  if (yes) return usable.map((dataset) => ({ dataset }));
  if (ask === undefined) throw noChoice(usable);
  const answer = await ask('\nWhich of them should jobs be written for? Names separated by commas, or "all": ');
  if (answer.trim() === 'all') return withCursors(usable, ask);
  const names = answer.split(',').map((name) => name.trim());
  return withCursors(
    named(
      names.filter((name) => name !== ''),
      usable,
    ),
    ask,
  );
}

function named(names: readonly string[], usable: readonly Dataset[]): Dataset[] {
  return [...new Set(names)].map((name) => usable.find((one) => one.name === name) ?? unknown(name, usable));
}

/** Only the user knows whether the source deletes rows. If the user can't be asked, the jobs read all rows. */
async function withCursors(datasets: readonly Dataset[], ask: Ask | undefined): Promise<ChosenDataset[]> {
  const chosen: ChosenDataset[] = [];
  for (const dataset of datasets) {
    const [cursor] = dataset.cursors ?? [];
    const isAsked = ask !== undefined && cursor !== undefined && dataset.key !== undefined;
    const sees = dataset.key?.includes(cursor ?? '') ? 'added' : 'added and changed';
    const isOnly = isAsked && isYes(await ask(questionOf(dataset.name, sees, cursor)));
    chosen.push(isOnly ? { dataset, cursor } : { dataset });
  }
  return chosen;
}

function questionOf(name: string, sees: string, cursor: string): string {
  return `${name}: read only ${sees} rows, by ${cursor}? Rows deleted at the source would stay. [y/N] `;
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}

function unknown(name: string, usable: readonly Dataset[]): never {
  const names = usable.map((one) => one.name);
  throw new Problem({
    code: 'INIT_UNKNOWN',
    family: 'config',
    message: `The source has no readable dataset named "${name}"`,
    seen: name,
    allowed: names.join(', ') || 'nothing can be read',
    next: didYouMean(name, names) ?? "check the name and the login's permissions",
  });
}

function noChoice(usable: readonly Dataset[]): Problem {
  return new Problem({
    code: 'INIT_CHOOSE',
    family: 'config',
    message: 'No dataset was selected, so nothing was written',
    allowed: usable.map(({ name }) => name).join(', ') || 'nothing can be read',
    next: 'select datasets with --table NAME, which can be repeated, or all with --yes',
  });
}
