/**
 * Tables for published links, which show dashboards to people without an account, and for the links' views. A link's
 * views are kept after the link is deleted, together with its settings at that time, because reports cover the past.
 */
export const publishedLinks = `
create table published_links (
  id text primary key,
  tab_id text not null references tabs(id) on delete cascade,
  name text not null,
  password text,
  is_public integer not null,
  theme text not null,
  logo text not null,
  social integer not null,
  wants_advertising integer not null,
  use_ip_ranges integer not null,
  created_by text not null,
  creator_name text not null,
  created_at integer not null,
  date_last_accessed integer
) strict;
create index published_links_by_tab on published_links(tab_id, created_at, id);

create table published_link_views (
  account_id text not null references accounts(id) on delete cascade,
  hour integer not null,
  link_id text not null,
  tab_name text not null,
  is_public integer not null,
  has_password integer not null,
  views integer not null,
  primary key (account_id, hour, link_id)
) strict, without rowid;
`;
