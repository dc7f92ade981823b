/** The table of share rights for one kind of asset. */
export const sharesOf = (asset: 'datasource' | 'klip' | 'tab'): string => `
create table ${asset}_shares (
  ${asset}_id text not null references ${asset}s(id) on delete cascade,
  kind text not null check (kind in ('group', 'user')),
  holder_id text not null,
  can_edit integer not null default 0,
  created_at integer not null,
  account_id text,
  asset_created_at integer,
  primary key (${asset}_id, kind, holder_id)
) strict, without rowid;
create index ${asset}_shares_in_order on ${asset}_shares(kind, holder_id, account_id, asset_created_at, ${asset}_id);
create trigger ${asset}_share_placed after insert on ${asset}_shares begin
  update ${asset}_shares set (account_id, asset_created_at) =
    (select account_id, created_at from ${asset}s where id = new.${asset}_id)
  where ${asset}_id = new.${asset}_id and kind = new.kind and holder_id = new.holder_id;
end;
create trigger group_${asset}_shares_end after delete on groups begin
  delete from ${asset}_shares where kind = 'group' and holder_id = old.id;
end;
create trigger user_${asset}_shares_end after delete on users begin
  delete from ${asset}_shares where kind = 'user' and holder_id = old.id;
end;
`;
