/** When somebody of an account last signed in: a fact about the account, which stays when that user is deleted. */
export const sql = `
alter table accounts add column last_sign_in integer;
update accounts set last_sign_in = (select max(date_last_login) from users where account_id = accounts.id);
create trigger account_signed_in after update of date_last_login on users
when new.date_last_login is not null begin
  update accounts set last_sign_in = max(coalesce(last_sign_in, 0), new.date_last_login) where id = new.account_id;
end;
`;
