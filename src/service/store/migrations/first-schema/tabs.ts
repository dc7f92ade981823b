import { sharesOf } from './shares.ts';

/**
 * Tables for dashboards (called tabs in paths and tables), their share rights and Klips, and the default dashboards of
 * groups and users.
 */
export const tabs = `
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
create index tabs_by_creator on tabs(created_by, account_id, created_at, id);

${sharesOf('tab')}
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

create table group_default_tabs (
  id text primary key,
  group_id text not null references groups(id) on delete cascade,
  tab_id text not null references tabs(id) on delete cascade,
  can_edit integer not null,
  visibility text not null check (visibility in ('library', 'dashboard', 'permanent')),
  position integer not null,
  created_at integer not null,
  unique (group_id, tab_id)
) strict;
create index group_default_tabs_in_order on group_default_tabs(group_id, position, created_at, id);
create index group_default_tabs_by_tab on group_default_tabs(tab_id);

create table user_tab_instances (
  place integer primary key autoincrement,
  id text not null unique,
  user_id text not null references users(id) on delete cascade,
  tab_id text not null references tabs(id) on delete cascade,
  context text not null,
  unique (user_id, tab_id)
) strict;
create index user_tab_instances_in_order on user_tab_instances(user_id, place);
create index user_tab_instances_by_tab on user_tab_instances(tab_id);
`;
