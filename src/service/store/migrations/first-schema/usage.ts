/** Tables for the usage reports: daily snapshots of each account, and counts for the current day. */
export const usage = `
create table usage_accounts (
  account_id text not null references accounts(id) on delete cascade,
  day text not null,
  last_login integer,
  seats integer not null,
  users integer not null,
  klips integer not null,
  datasources integer not null,
  dashboards integer not null,
  storage integer not null,
  logins text not null,
  primary key (account_id, day)
) strict, without rowid;

create table usage_connectors (
  account_id text not null references accounts(id) on delete cascade,
  day text not null,
  connector text not null,
  datasources integer not null,
  instances integer not null,
  primary key (account_id, day, connector)
) strict, without rowid;

create table usage_clients (
  account_id text not null references accounts(id) on delete cascade,
  day text not null,
  added integer not null,
  cancelled integer not null,
  states text not null,
  primary key (account_id, day)
) strict, without rowid;

create table usage_running_day (
  only_row integer primary key check (only_row = 1),
  day text not null
) strict;

create table clients_changed_today (
  account_id text primary key,
  added integer not null default 0,
  cancelled integer not null default 0
) strict, without rowid;
create trigger client_added after insert on accounts when new.parent_id is not null begin
  insert into clients_changed_today (account_id, added) values (new.parent_id, 1)
  on conflict do update set added = added + 1;
end;
create trigger client_disabled after update of status on accounts
when new.parent_id is not null and new.status = 'disabled' and old.status <> 'disabled' begin
  insert into clients_changed_today (account_id, cancelled) values (new.parent_id, 1)
  on conflict do update set cancelled = cancelled + 1;
end;
create trigger client_deleted after delete on accounts
when old.parent_id is not null and old.status <> 'disabled' begin
  insert into clients_changed_today (account_id, cancelled) values (old.parent_id, 1)
  on conflict do update set cancelled = cancelled + 1;
end;
`;
