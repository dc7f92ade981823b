/**
 * Tables for companies and their clients, roles, users, API keys, groups, user and client properties, and the API usage
 * of each company.
 */
export const accounts = `
create table accounts (
  id text primary key,
  parent_id text references accounts(id) on delete cascade,
  name text not null,
  plan text,
  status text not null default 'active',
  requests_per_day integer,
  requests_per_second integer,
  created_at integer not null,
  description text not null default '',
  external_id text,
  seats integer not null default -1,
  dashboards integer not null default -1,
  private_links integer not null default -1,
  trial_extended integer not null default 0,
  direct_billing integer not null default 0,
  last_sign_in integer
) strict;
create index accounts_by_parent on accounts(parent_id, created_at, id);

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

create table roles (
  id text primary key,
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  description text not null default '',
  built_in text,
  permissions text not null default '[]',
  created_at integer not null,
  unique (account_id, name)
) strict;
create index roles_by_account on roles(account_id, created_at, id);

create table users (
  id text primary key,
  account_id text not null references accounts(id) on delete cascade,
  role_id text references roles(id) on delete set null,
  email text not null,
  first_name text not null default '',
  last_name text not null default '',
  password text,
  date_last_login integer,
  created_at integer not null,
  external_id text
) strict;
create unique index users_by_email on users(lower(email));
create index users_by_account on users(account_id, created_at, id);
create index users_by_role on users(role_id, created_at, id);
create trigger account_signed_in after update of date_last_login on users
when new.date_last_login is not null begin
  update accounts set last_sign_in = max(coalesce(last_sign_in, 0), new.date_last_login) where id = new.account_id;
end;

create table api_keys (
  hash blob primary key,
  user_id text not null references users(id) on delete cascade,
  created_at integer not null
) strict;
create index api_keys_by_user on api_keys(user_id);

create table groups (
  id text primary key,
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  description text not null default '',
  created_at integer not null,
  external_id text,
  unique (account_id, name)
) strict;
create index groups_by_account on groups(account_id, created_at, id);

create table group_members (
  group_id text not null references groups(id) on delete cascade,
  user_id text not null references users(id) on delete cascade,
  primary key (group_id, user_id)
) strict, without rowid;
create index group_members_by_user on group_members(user_id);

create table user_property_names (
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  primary key (account_id, name)
) strict, without rowid;

create table user_properties (
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  user_id text not null references users(id) on delete cascade,
  value text not null,
  primary key (account_id, name, user_id)
) strict, without rowid;
create index user_properties_by_user on user_properties(user_id, name);

create table api_usage (
  account_id text not null references accounts(id) on delete cascade,
  day text not null,
  used integer not null,
  allowance integer not null,
  primary key (account_id, day)
) strict, without rowid;
`;
