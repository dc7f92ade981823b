import type { Catalog } from '../../config/catalog/catalog.ts';
import { didYouMean } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';
import type { Connector } from '../../sdk/connector.ts';
import { showProblems } from '../config-file.ts';

/** The connectors that a config can use: the built-in connectors, and those in the config's folder and packages. */
export async function catalogOf(config: string): Promise<Catalog> {
  const { readPlaces } = await import('../../config/parse/connector-paths.ts');
  const { openCatalog } = await import('../../config/catalog/catalog.ts');
  const { places, problems } = await readPlaces(config);
  showProblems(problems);
  return openCatalog(places);
}

/**
 * The connector with this name.
 *
 * @throws Problem with the closest name, or with the error in the connector.
 */
export async function connectorNamed(id: string, catalog: Catalog): Promise<Connector> {
  const connector = await catalog.load(id);
  if (connector !== undefined) return connector;
  const broken = catalog.problems.find(({ where }) => where.file !== undefined && where.file === catalog.file(id));
  if (broken !== undefined) throw broken;
  throw new Problem({
    code: 'CLI_UNKNOWN_CONNECTOR',
    family: 'config',
    message: `Unknown connector "${id}"`,
    allowed: catalog.ids.join(', '),
    next: didYouMean(id, catalog.ids) ?? 'sluice connectors list',
  });
}
