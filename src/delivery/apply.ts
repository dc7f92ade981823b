import type { Config, Share } from '../config/config.ts';
import { Problem } from '../lib/problem.ts';
import type { Store } from '../state/store.ts';
import { missingVolume } from './address.ts';
import type { DestinationClient } from './client.ts';
import { type Declared, declaredIn } from './declared.ts';
import { inspect, listDatasources, type RemoteDatasource, sharesOf } from './remote-datasources.ts';

/** An action of `apply`, which `say` describes. No action deletes anything. */
export type ApplyAction = { readonly declared: Declared; readonly say: string } & (
  | { readonly kind: 'create' }
  /**
   * `apply` created the data source, but the store has no record of it, for example after a crash or on a new machine.
   */
  | { readonly kind: 'adopt'; readonly datasource: string; readonly instance: string }
  | { readonly kind: 'update'; readonly datasource: string }
  | { readonly kind: 'share'; readonly datasource: string | undefined; readonly shares: readonly Share[] }
  | { readonly kind: 'unchanged'; readonly datasource: string }
);

/** What `apply` does at the services, in order. */
export interface ApplyPlan {
  readonly actions: readonly ApplyAction[];
  /** Whether the plan changes anything. */
  readonly changes: boolean;
}

/** Returns the client for a destination's API. */
export type ClientOf = (declared: Declared) => DestinationClient;

/**
 * Plans how `apply` would create or update the declared data sources, without changing anything. Never takes over a
 * data source that Sluice didn't create, even if it has the same name.
 */
export async function planApply(config: Config, store: Store, clientOf: ClientOf): Promise<ApplyPlan> {
  const lists = new Map<string, Promise<RemoteDatasource[]>>();
  const actions: ApplyAction[] = [];
  for (const declared of declaredIn(config)) {
    const client = clientOf(declared);
    const key = JSON.stringify([declared.destination.name, declared.clientId ?? '']);
    const listing = lists.get(key) ?? listDatasources(client, declared.clientId);
    lists.set(key, listing);
    actions.push(...(await actionsFor(declared, { store, client, remotes: await listing })));
  }
  return { actions, changes: actions.some(({ kind }) => kind !== 'unchanged') };
}

interface Look {
  readonly store: Store;
  readonly client: DestinationClient;
  readonly remotes: readonly RemoteDatasource[];
}

async function actionsFor(declared: Declared, look: Look): Promise<ApplyAction[]> {
  const { name, format, shares } = declared.declaration;
  const known = await look.store.targets.find(targetKey(declared));
  const remembered = look.remotes.find(({ id }) => id === known?.datasource);
  if (remembered !== undefined) {
    if (known?.format !== format) throw formatChanged(declared, known?.format ?? '');
    return compare(declared, remembered, look);
  }
  const twin = await findOurs(declared, look);
  if (twin !== undefined) {
    const say = `adopt "${name}": ${twin.id} was created by an earlier apply that this state has no record of; ${missingVolume}`;
    const adopt: ApplyAction = { kind: 'adopt', declared, datasource: twin.id, instance: twin.instance, say };
    return [adopt, ...(await compare(declared, twin, look)).filter(({ kind }) => kind !== 'unchanged')];
  }
  const create: ApplyAction = { kind: 'create', declared, say: createWords(declared, look, known?.datasource) };
  const say = `share "${name}" with ${shares.map(nameOf).join(', ')}`;
  return shares.length === 0 ? [create] : [create, { kind: 'share', declared, datasource: undefined, shares, say }];
}

/** Finds the data source with the declared name and format and our marker. Throws if there are several. */
async function findOurs(
  declared: Declared,
  { client, remotes }: Look,
): Promise<(RemoteDatasource & { instance: string }) | undefined> {
  const { clientId, declaration } = declared;
  const ours: (RemoteDatasource & { instance: string })[] = [];
  for (const remote of remotes.filter(({ name }) => name === declaration.name)) {
    const { ours: isOurs, format, instance } = await inspect(client, { id: remote.id, clientId });
    if (isOurs && format === declaration.format) ours.push({ ...remote, instance });
  }
  if (ours.length > 1) throw severalOurs(declared, ours);
  return ours[0];
}

async function compare(declared: Declared, remote: RemoteDatasource, { client }: Look): Promise<ApplyAction[]> {
  const { name, description, shares } = declared.declaration;
  const actions: ApplyAction[] = [];
  if (remote.name !== name || remote.description !== description) {
    const say = `update "${name}" (${remote.id}): name or description differs`;
    actions.push({ kind: 'update', declared, datasource: remote.id, say });
  }
  const missing = shares.length === 0 ? [] : await missingShares(declared, { client, id: remote.id });
  if (missing.length > 0) {
    const say = `share "${name}" (${remote.id}) with ${missing.map(nameOf).join(', ')}`;
    actions.push({ kind: 'share', declared, datasource: remote.id, shares: missing, say });
  }
  if (actions.length > 0) return actions;
  return [{ kind: 'unchanged', declared, datasource: remote.id, say: `"${name}" (${remote.id}) is as declared` }];
}

async function missingShares(
  declared: Declared,
  { client, id }: { client: DestinationClient; id: string },
): Promise<Share[]> {
  const present = await sharesOf(client, { id, clientId: declared.clientId });
  return declared.declaration.shares.filter((share) => present.get(nameOf(share)) !== share.canEdit);
}

/** A declaration's key in the store. */
export function targetKey({ destination, clientId, declaration }: Declared) {
  const key = { url: destination.url, name: declaration.name };
  return clientId === undefined ? key : { ...key, clientId };
}

const nameOf = ({ group, user }: Share) => (group === undefined ? `user ${user}` : `group ${group}`);

function createWords({ declaration, destination, clientId }: Declared, { remotes }: Look, gone?: string): string {
  const { name, format } = declaration;
  const place = clientId === undefined ? destination.name : `${destination.name}, client ${clientId}`;
  const others = remotes.filter((remote) => remote.name === name).map(({ id }) => id);
  const lost = gone === undefined ? '' : `; ${gone}, created earlier, no longer exists`;
  const twin =
    others.length === 0
      ? ''
      : `; another data source has the same name, but apply did not create it and will not change it: ${others.join(', ')}`;
  return `create "${name}" (${format}) at ${place}${lost}${twin}`;
}

function formatChanged({ declaration, jobs }: Declared, seen: string): Problem {
  return new Problem({
    code: 'APPLY_FORMAT_CHANGED',
    family: 'config',
    message: `The format of data source "${declaration.name}" cannot be changed after the data source is created`,
    where: jobs[0] === undefined ? {} : { job: jobs[0] },
    seen: `${declaration.format} in the config`,
    allowed: seen,
    next: 'restore the former format, or declare the data source under another name',
  });
}

function severalOurs({ declaration, jobs }: Declared, found: readonly RemoteDatasource[]): Problem {
  return new Problem({
    code: 'APPLY_AMBIGUOUS',
    family: 'config',
    message: `Apply created several data sources named "${declaration.name}", and this state has no record of any of them`,
    where: jobs[0] === undefined ? {} : { job: jobs[0] },
    seen: found.map(({ id }) => id).join(', '),
    next: "set the job's instance to the ID of the right one, or delete the others at the service",
  });
}
