/** Data sources, who may see them, their instances with the data they hold, and the queue of refreshes. */
export const sql = `
create table datasources (
  id text primary key,
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  description text not null default '',
  connector text not null,
  format text not null,
  refresh_interval integer not null default 0,
  is_dynamic integer not null default 0,
  no_refresh integer not null default 0,
  disabled integer not null default 0,
  properties text not null default '{}',
  created_by text references users(id) on delete set null,
  created_at integer not null
) strict;
create index datasources_by_account on datasources(account_id, created_at, id);

create table datasource_shares (
  datasource_id text not null references datasources(id) on delete cascade,
  kind text not null check (kind in ('group', 'user')),
  holder_id text not null,
  can_edit integer not null default 0,
  created_at integer not null,
  primary key (datasource_id, kind, holder_id)
) strict, without rowid;
create index datasource_shares_by_holder on datasource_shares(kind, holder_id);
create trigger group_shares_end after delete on groups begin
  delete from datasource_shares where kind = 'group' and holder_id = old.id;
end;
create trigger user_shares_end after delete on users begin
  delete from datasource_shares where kind = 'user' and holder_id = old.id;
end;

create table datasource_instances (
  id text primary key,
  datasource_id text not null references datasources(id) on delete cascade,
  dynamic_key text not null default '',
  blob text,
  sha256 text,
  data_size integer not null default 0,
  date_last_refresh integer,
  refresh_fail_count integer not null default 0,
  last_error text,
  created_at integer not null,
  unique (datasource_id, dynamic_key)
) strict;

create table instance_properties (
  instance_id text not null references datasource_instances(id) on delete cascade,
  name text not null,
  value text not null,
  primary key (instance_id, name)
) strict, without rowid;

create table refresh_queue (
  position integer primary key autoincrement,
  instance_id text not null references datasource_instances(id) on delete cascade,
  running integer not null default 0,
  queued_at integer not null
) strict;
create unique index refresh_queue_once on refresh_queue(instance_id) where running = 0;
`;
