import type { Catalog } from '../../config/catalog/catalog.ts';
import type { Connector } from '../../sdk/connector.ts';
import { showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { renderTable } from '../output/table.ts';
import { catalogOf } from './catalog-of.ts';

/** One connector in a list. */
interface Listed {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly oauth: boolean;
  readonly resumes: boolean;
  readonly from: string;
  /** When and why the service was discontinued. */
  readonly retired?: string;
}

/** Lists all connectors. If a connector is broken, reports it on stderr and exits with code 2. */
export async function listConnectors({ config, json }: { config: string; json?: true }): Promise<void> {
  const catalog = await catalogOf(config);
  const listed: Listed[] = [];
  for (const id of catalog.ids) {
    const connector = await catalog.load(id);
    if (connector !== undefined) listed.push(listedAs(connector, catalog));
  }
  if (catalog.problems.length > 0) process.exitCode = exit.usage;
  showProblems(catalog.problems);
  process.stdout.write(json ? `${JSON.stringify(listed, undefined, 2)}\n` : `${tableOf(listed)}\n`);
}

function listedAs({ id, title, summary, oauth, resumes, retired }: Connector, catalog: Catalog): Listed {
  return {
    id,
    title,
    summary,
    oauth: oauth !== undefined,
    resumes: resumes !== undefined,
    from: catalog.origin(id) ?? '',
    retired,
  };
}

function tableOf(listed: readonly Listed[]): string {
  const columns = ['connector', 'reads', 'login', 'resumes', 'from'].map((title) => ({ title }));
  const rows = listed.map(({ id, summary, oauth, resumes, from, retired }) => [
    id,
    retired === undefined ? summary : `Gone: ${retired}`,
    oauth ? 'OAuth' : '',
    resumes ? 'yes' : '',
    from,
  ]);
  const table = renderTable(columns, rows, { widest: 90, paper: process.stdout });
  return `${table}\n\nFor a connector's options, run "sluice connectors describe NAME".`;
}
