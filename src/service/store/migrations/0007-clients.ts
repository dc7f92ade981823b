/** What a client account may use, and how far it is on its way from being set up to being a paying client. */
export const sql = `
alter table accounts add column description text not null default '';
alter table accounts add column external_id text;
alter table accounts add column seats integer not null default -1;
alter table accounts add column dashboards integer not null default -1;
alter table accounts add column private_links integer not null default -1;
alter table accounts add column trial_extended integer not null default 0;
alter table accounts add column direct_billing integer not null default 0;

create table client_features (
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  enabled integer not null,
  primary key (account_id, name)
) strict, without rowid;

create table client_properties (
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  value text not null,
  primary key (account_id, name)
) strict, without rowid;
`;
