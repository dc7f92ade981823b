/** Klips, share rights, the data sources in their schemas, and annotations. */
export const klips = `
create table klips (
  id text primary key,
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  description text not null default '',
  schema text not null,
  imported_from text references klips(id) on delete set null,
  created_by text references users(id) on delete set null,
  created_at integer not null,
  updated_at integer not null
) strict;
create index klips_by_account on klips(account_id, created_at, id);
create index klips_by_original on klips(imported_from) where imported_from is not null;
create index klips_by_creator on klips(created_by, account_id, created_at, id);

create table klip_shares (
  klip_id text not null references klips(id) on delete cascade,
  kind text not null check (kind in ('group', 'user')),
  holder_id text not null,
  can_edit integer not null default 0,
  created_at integer not null,
  account_id text,
  asset_created_at integer,
  primary key (klip_id, kind, holder_id)
) strict, without rowid;
create index klip_shares_in_order on klip_shares(kind, holder_id, account_id, asset_created_at, klip_id);
create trigger klip_share_placed after insert on klip_shares begin
  update klip_shares set (account_id, asset_created_at) =
    (select account_id, created_at from klips where id = new.klip_id)
  where klip_id = new.klip_id and kind = new.kind and holder_id = new.holder_id;
end;
create trigger group_klip_shares_end after delete on groups begin
  delete from klip_shares where kind = 'group' and holder_id = old.id;
end;
create trigger user_klip_shares_end after delete on users begin
  delete from klip_shares where kind = 'user' and holder_id = old.id;
end;

create table klip_datasources (
  klip_id text not null references klips(id) on delete cascade,
  datasource_id text not null references datasources(id) on delete cascade,
  primary key (klip_id, datasource_id)
) strict, without rowid;
create index klip_datasources_by_source on klip_datasources(datasource_id);

create table klip_annotations (
  id text primary key,
  klip_id text not null references klips(id) on delete cascade,
  body text not null,
  author_id text not null,
  author_name text not null,
  created_at integer not null
) strict;
create index klip_annotations_by_klip on klip_annotations(klip_id, created_at, id);
`;
