import { Problem } from '../lib/problem.ts';
import type { Store } from '../state/store.ts';
import { type ApplyAction, type ApplyPlan, type ClientOf, targetKey } from './apply.ts';
import type { DestinationClient } from './client.ts';
import type { Declared } from './declared.ts';
import { inspect, listDatasources, markerUrl } from './remote-datasources.ts';

/**
 * Executes a plan in order. Stores each new data source's ID before the next step. If a create request gets no
 * response, checks whether the data source exists before giving up.
 */
export async function carryOutPlan(
  plan: ApplyPlan,
  given: { store: Store; clientOf: ClientOf; onDone?: (action: ApplyAction) => void },
): Promise<void> {
  for (const action of plan.actions) {
    await carryOutOne(action, given.store, given.clientOf(action.declared));
    given.onDone?.(action);
  }
}

async function carryOutOne(action: ApplyAction, store: Store, client: DestinationClient): Promise<void> {
  const { declared } = action;
  const { format } = declared.declaration;
  if (action.kind === 'create') {
    const ids = await create(declared, client);
    await store.targets.remember(targetKey(declared), { ...ids, format });
  }
  if (action.kind === 'adopt') {
    const { datasource, instance } = action;
    await store.targets.remember(targetKey(declared), { datasource, instance, format });
  }
  if (action.kind === 'update') await update(action.datasource, declared, client);
  if (action.kind === 'share') await share(action, store, client);
}

interface Ids {
  readonly datasource: string;
  readonly instance: string;
}

async function create(declared: Declared, client: DestinationClient): Promise<Ids> {
  const { name, description, format } = declared.declaration;
  const body = {
    name,
    description,
    format,
    connector: 'simple_rest',
    refresh_interval: 0,
    no_refresh: true,
    properties: { endpoint_url: markerUrl, method: 'GET', parameters: '[]' },
    ...inClient(declared),
  };
  try {
    const { meta } = await client.call('POST', '/datasources', { body });
    return { datasource: idIn(meta.location), instance: idIn(meta.instance_location) };
  } catch (error) {
    const found = isAmbiguous(error) ? await lookFor(declared, client) : undefined;
    if (found === undefined) throw error;
    return found;
  }
}

/**
 * For use after a create request that got no response. Returns the data source with the declared name and our marker,
 * if there's exactly one.
 */
async function lookFor(declared: Declared, client: DestinationClient): Promise<Ids | undefined> {
  const { clientId, declaration } = declared;
  const found: Ids[] = [];
  for (const { id, name } of await listDatasources(client, clientId)) {
    if (name !== declaration.name) continue;
    const { ours, format, instance } = await inspect(client, { id, clientId });
    if (ours && format === declaration.format) found.push({ datasource: id, instance });
  }
  return found.length === 1 ? found[0] : undefined;
}

async function update(id: string, declared: Declared, client: DestinationClient): Promise<void> {
  const { name, description } = declared.declaration;
  const body = { name, description, ...inClient(declared) };
  await client.call('PUT', `/datasources/${encodeURIComponent(id)}`, { body });
}

async function share(
  action: Extract<ApplyAction, { kind: 'share' }>,
  store: Store,
  client: DestinationClient,
): Promise<void> {
  const { declared, shares } = action;
  const id = action.datasource ?? (await store.targets.find(targetKey(declared)))?.datasource ?? '';
  const groups = shares.flatMap(({ group: id, canEdit }) =>
    id === undefined ? [] : [{ group_id: id, can_edit: canEdit }],
  );
  const users = shares.flatMap(({ user: id, canEdit }) =>
    id === undefined ? [] : [{ user_id: id, can_edit: canEdit }],
  );
  const body = { groups, users, ...inClient(declared) };
  await client.call('PUT', `/datasources/${encodeURIComponent(id)}/share-rights`, { body });
}

const inClient = ({ clientId }: Declared) => (clientId === undefined ? {} : { client_id: clientId });
const isAmbiguous = (error: unknown) => error instanceof Problem && error.code === 'CALL_AMBIGUOUS';

function idIn(location: unknown): string {
  const id = typeof location === 'string' ? location.split('/').filter(Boolean).at(-1) : undefined;
  if (id !== undefined) return decodeURIComponent(id);
  throw new Problem({
    code: 'APPLY_NO_LOCATION',
    family: 'job',
    message: 'The service created a data source but did not return its location',
    next: 'run "sluice apply" again; it first checks what already exists',
  });
}
