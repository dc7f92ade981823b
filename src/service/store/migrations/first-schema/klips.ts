import { sharesOf } from './shares.ts';

/** Tables for Klips, their share rights, the data sources that their schemas name, and annotations. */
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

${sharesOf('klip')}
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
