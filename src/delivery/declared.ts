import { type Config, clientOf, type DatasourceDeclaration, type Destination } from '../config/config.ts';
import { Problem } from '../lib/problem.ts';

/** A data source declared by jobs in the config. */
export interface Declared {
  readonly destination: Destination;
  readonly clientId: string | undefined;
  readonly declaration: DatasourceDeclaration;
  /** The jobs that write to the data source. */
  readonly jobs: readonly string[];
}

/** Returns each declared data source once. Throws a config error if two jobs' declarations conflict. */
export function declaredIn(config: Config): Declared[] {
  const found = new Map<string, Declared>();
  for (const { name, line, target, destination } of config.jobs.values()) {
    if (target.kind !== 'datasource') continue;
    const { declaration } = target;
    const { clientId } = clientOf({ target, destination });
    const key = JSON.stringify([destination.url, clientId ?? '', declaration.name]);
    const known = found.get(key);
    if (known !== undefined && JSON.stringify(known.declaration) !== JSON.stringify(declaration)) {
      throw declaredTwice({ file: config.file, line, job: name, other: known.jobs[0] ?? '', source: declaration.name });
    }
    found.set(key, { destination, clientId, declaration, jobs: [...(known?.jobs ?? []), name] });
  }
  return [...found.values()];
}

function declaredTwice(given: { file: string; line: number; job: string; other: string; source: string }): Problem {
  const { file, line, job, other, source } = given;
  return new Problem({
    code: 'APPLY_DECLARED_TWICE',
    family: 'config',
    message: `Jobs ${other} and ${job} declare the data source "${source}" differently`,
    where: { file, line, job },
    next: 'make the declarations identical, or rename the data source in one of them',
  });
}
