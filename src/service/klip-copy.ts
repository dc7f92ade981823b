import { newId } from '../lib/ids.ts';
import { copyDatasource } from './datasource-copy.ts';
import type { ApiCall } from './endpoint.ts';
import { datasourcesOf, type Schema } from './klip-schema.ts';
import { datasourceById } from './store/datasources.ts';
import { insertKlip, type Klip, schemaOf, setUsedDatasources, usedDatasourceIds } from './store/klips.ts';

/**
 * Copies a Klip and its data sources into another account, all or nothing. `copies` maps the IDs of original data
 * sources to the IDs of their copies. This function uses and extends the map, so Klips that share a data source also
 * share its copy. Returns the ID of the new Klip.
 */
export function copyKlip(call: ApiCall, klip: Klip, accountId: string, copies = new Map<string, string>()): string {
  const { context, caller } = call;
  const id = newId();
  context.db.durably(() => {
    const used = usedDatasourceIds(context.db, klip.id);
    for (const original of used.filter((one) => !copies.has(one))) {
      copies.set(original, copyDatasource(call, datasourceById(context.db, original)!, accountId));
    }
    const ids = new Map([[klip.id, id], ...used.map((original) => [original, copies.get(original)!] as const)]);
    insertKlip(context.db, {
      id,
      accountId,
      name: klip.name,
      description: klip.description,
      schema: JSON.stringify(schemaWith(JSON.parse(schemaOf(context.db, klip.id)) as Schema, ids)),
      importedFrom: klip.id,
      createdBy: caller.user.id,
      createdAt: context.clock.now(),
    });
    setUsedDatasources(
      context.db,
      id,
      used.map((original) => ids.get(original)!),
    );
  });
  return id;
}

/**
 * Returns the schema for the copy of a Klip. The IDs of data sources are replaced by the IDs of their copies, also in
 * formulas. Deleted data sources have no copies and are left out.
 */
function schemaWith(original: Schema, ids: ReadonlyMap<string, string>): Schema {
  const kept = datasourcesOf(original).filter((id) => ids.has(id));
  const workspace = { ...(original.workspace as object | null), datasources: kept };
  let text = JSON.stringify('workspace' in original ? { ...original, workspace } : original);
  for (const [from, to] of ids) text = text.replaceAll(from, to);
  return JSON.parse(text) as Schema;
}
