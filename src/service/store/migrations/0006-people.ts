/** Groups, roles and users as they are managed over HTTP, and the properties that all users of an account have. */
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
`;
