/**
 * Groups, roles and users as they are managed over HTTP, the properties that all users of an account have, and the
 * dashboards that groups and users are given.
 */
export const sql = `
alter table groups add column external_id text;
create index groups_by_account on groups(account_id, created_at, id);
create index roles_by_account on roles(account_id, created_at, id);
alter table users add column external_id text;

create table user_property_names (
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  primary key (account_id, name)
) strict, without rowid;
insert into user_property_names (account_id, name) select distinct account_id, name from user_properties;
create index user_properties_by_user on user_properties(user_id, name);
create index datasources_dynamic on datasources(account_id, created_at, id) where is_dynamic = 1;

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

-- Whoever or whatever is deleted, what refers to it is found without looking through other companies' rows.
create index api_keys_by_user on api_keys(user_id);
create index datasources_by_creator on datasources(created_by);
create index klips_by_creator on klips(created_by);
create index tabs_by_creator on tabs(created_by);
create index refresh_queue_by_instance on refresh_queue(instance_id);
`;
