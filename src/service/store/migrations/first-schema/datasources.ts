import { sharesOf } from './shares.ts';

/**
 * Tables for data sources, their share rights, instances and data, and the refresh queue. The time at which an instance
 * is due for a refresh is stored in the database; null means that it isn't refreshed on a schedule.
 */
export const datasources = `
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
create index datasources_by_creator on datasources(created_by, account_id, created_at, id);
create index datasources_dynamic on datasources(account_id, created_at, id) where is_dynamic = 1;

${sharesOf('datasource')}
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
  refresh_due_at integer,
  unique (datasource_id, dynamic_key)
) strict;
create index datasource_instances_in_order on datasource_instances(datasource_id, created_at, id);
create index datasource_instances_due on datasource_instances(refresh_due_at) where refresh_due_at is not null;

create view refresh_plan as
select i.id as instance_id, d.id as datasource_id, d.refresh_interval * 1000 as every_ms,
  case when d.refresh_interval > 0 and d.disabled = 0 and d.no_refresh = 0
    then coalesce(i.date_last_refresh, i.created_at) + d.refresh_interval * 1000 end as due_at
from datasource_instances i join datasources d on d.id = i.datasource_id;

create trigger refresh_due_first after insert on datasource_instances begin
  update datasource_instances set refresh_due_at = (select due_at from refresh_plan where instance_id = new.id)
  where id = new.id;
end;
create trigger refresh_due_changed after update of refresh_interval, disabled, no_refresh on datasources
when old.refresh_interval <> new.refresh_interval or old.disabled <> new.disabled or old.no_refresh <> new.no_refresh
begin
  update datasource_instances set refresh_due_at = (select due_at from refresh_plan p where p.instance_id = id)
  where datasource_id = new.id;
end;

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
create index refresh_queue_by_instance on refresh_queue(instance_id);
`;
