/** Dashboards (tabs in every path and table), who may see them, and the Klips that are placed on them. */
export const sql = `
create table tabs (
  id text primary key,
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  description text not null default '',
  layout_type text not null,
  cols integer not null,
  created_by text references users(id) on delete set null,
  created_at integer not null,
  updated_at integer not null
) strict;
create index tabs_by_account on tabs(account_id, created_at, id);

create table tab_shares (
  tab_id text not null references tabs(id) on delete cascade,
  kind text not null check (kind in ('group', 'user')),
  holder_id text not null,
  can_edit integer not null default 0,
  created_at integer not null,
  primary key (tab_id, kind, holder_id)
) strict, without rowid;
create index tab_shares_by_holder on tab_shares(kind, holder_id);
create trigger group_tab_shares_end after delete on groups begin
  delete from tab_shares where kind = 'group' and holder_id = old.id;
end;
create trigger user_tab_shares_end after delete on users begin
  delete from tab_shares where kind = 'user' and holder_id = old.id;
end;

create table klip_instances (
  id text primary key,
  tab_id text not null references tabs(id) on delete cascade,
  klip_id text not null references klips(id) on delete cascade,
  region integer not null,
  position integer not null,
  col_span integer not null,
  min_height integer not null,
  height integer,
  created_at integer not null,
  place integer not null
) strict;
create index klip_instances_by_tab on klip_instances(tab_id, created_at, place);
create index klip_instances_by_klip on klip_instances(klip_id, created_at, place);
`;
