/** Tables for the share rights and the settings of client accounts. */
export const sql = `
create table client_shares (
  account_id text not null references accounts(id) on delete cascade,
  group_id text not null references groups(id) on delete cascade,
  can_manage integer not null,
  created_at integer not null,
  primary key (account_id, group_id)
) strict, without rowid;
create index client_shares_by_group on client_shares(group_id);

create table client_settings (
  account_id text not null references accounts(id) on delete cascade,
  name text not null,
  value text not null,
  primary key (account_id, name)
) strict, without rowid;
`;
