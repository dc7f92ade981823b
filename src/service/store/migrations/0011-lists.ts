/**
 * What a list of assets is read from: each reason for which somebody sees something (having made it, or a right of
 * theirs or of their group) as an index in the order of the list, so that a page is read without looking at the rest.
 * A right carries its asset's account and age for that; neither ever changes.
 */
const kinds = [
  { kind: 'datasource', table: 'datasources' },
  { kind: 'klip', table: 'klips' },
  { kind: 'tab', table: 'tabs' },
];

export const sql = `
${kinds.map(({ kind, table }) => listsOf(kind, table)).join('\n')}
create index datasource_instances_in_order on datasource_instances(datasource_id, created_at, id);
drop index users_by_role;
create index users_by_role on users(role_id, created_at, id);
`;

function listsOf(kind: string, table: string): string {
  return `
alter table ${kind}_shares add column account_id text;
alter table ${kind}_shares add column asset_created_at integer;
update ${kind}_shares set (account_id, asset_created_at) =
  (select account_id, created_at from ${table} where id = ${kind}_id);
create trigger ${kind}_share_placed after insert on ${kind}_shares begin
  update ${kind}_shares set (account_id, asset_created_at) =
    (select account_id, created_at from ${table} where id = new.${kind}_id)
  where ${kind}_id = new.${kind}_id and kind = new.kind and holder_id = new.holder_id;
end;
drop index ${kind}_shares_by_holder;
create index ${kind}_shares_in_order on ${kind}_shares(kind, holder_id, account_id, asset_created_at, ${kind}_id);
drop index ${table}_by_creator;
create index ${table}_by_creator on ${table}(created_by, account_id, created_at, id);`;
}
