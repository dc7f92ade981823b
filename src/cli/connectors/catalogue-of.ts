import type { Catalogue } from '../../config/catalogue.ts';
import { nearest } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';
import type { Connector } from '../../sdk/connector.ts';
import { showProblems } from '../config-file.ts';

/** The connectors that a config can name: ours, and those of the folder and packages that it tells. */
export async function catalogueOf(config: string): Promise<Catalogue> {
  const { readPlaces } = await import('../../config/places.ts');
  const { openCatalogue } = await import('../../config/catalogue.ts');
  const { places, problems } = await readPlaces(config);
  showProblems(problems);
  return openCatalogue(places);
}

/** The connector of this name. @throws Problem that names the nearest one, or says what is wrong with this one. */
export async function connectorNamed(id: string, catalogue: Catalogue): Promise<Connector> {
  const connector = await catalogue.load(id);
  if (connector !== undefined) return connector;
  const broken = catalogue.problems.find(({ where }) => where.file !== undefined && where.file === catalogue.file(id));
  if (broken !== undefined) throw broken;
  const meant = nearest(id, catalogue.ids);
  throw new Problem({
    code: 'CLI_UNKNOWN_CONNECTOR',
    family: 'config',
    message: `Unknown connector "${id}"`,
    allowed: catalogue.ids.join(', '),
    next: meant === undefined ? 'sluice connectors list' : `Did you mean "${meant}"?`,
  });
}
