import pg from 'pg';
import type { TestServer } from '../servers/server.ts';

/**
 * Makes a server check the locks of the states that are created on it from now on (see `lock-keys.ts`): a transaction
 * fails if it changes a row without having locked the row's key or the whole state. A statement that is a transaction by
 * itself needs no lock, and neither does one that counts a request, releases a slot or records a value of its process.
 */
export async function checkLocks({ host, port, user, password, database }: TestServer): Promise<void> {
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  await client.query(functions);
  await client.end();
}

const functions = `
create function public.has_locked(name text) returns boolean language sql as $$
  select exists (
    select from pg_locks
    where locktype = 'advisory' and pid = pg_backend_pid() and mode = 'ExclusiveLock' and granted and objsubid = 1
      and (classid::bigint << 32) | objid::bigint = hashtextextended(name, 0))
$$;

create function public.instance_key(of jsonb) returns text language sql as $$
  select 'instance:[' || (of->'url')::text || ',' || (of->'client_id')::text || ',' || (of->'instance')::text || ']'
$$;

/* A run is changed with its job's key before it has a payload, and with its instance's key afterwards. */
create function public.keys_of(at text, name text, of jsonb) returns setof text language plpgsql as $$
begin
  if name in ('accounts', 'quota', 'send_slots') then
    return next 'account:' || (of->>'account');
  elsif name in ('outbox', 'receipts') then
    return next public.instance_key(of);
  elsif of ? 'job' and name in ('runs', 'retries', 'schedules', 'deferred_firings', 'watermarks', 'generations',
      'current_generations', 'backfills') then
    return next 'job:' || (of->>'job');
  end if;
  if name = 'send_slots' then
    return query execute format('select %L || account from %I.send_slots where ticket = $1', 'account:', at)
      using of->>'ticket';
  elsif name = 'runs' then
    return query execute format('select public.instance_key(to_jsonb(o)) from %I.outbox o where run = $1', at)
      using of->>'id';
  end if;
end $$;

create function public.check_locks() returns trigger language plpgsql as $$
declare
  lock text := 'sluice:' || tg_table_schema;
  changed jsonb;
begin
  if statement_timestamp() = transaction_timestamp() or public.has_locked(lock)
      or tg_op = 'UPDATE' and to_jsonb(new) - 'requests' = to_jsonb(old) - 'requests'
      or tg_table_name = 'settings' and coalesce(to_jsonb(new), to_jsonb(old))->>'name' like 'process.%'
      or tg_table_name = 'send_slots' and tg_op = 'UPDATE'
        and to_jsonb(new) - array['free_at', 'arrives_by'] = to_jsonb(old) - array['free_at', 'arrives_by'] then
    return coalesce(new, old);
  end if;
  foreach changed in array array_remove(array[to_jsonb(old), to_jsonb(new)], null) loop
    if not exists (
        select from public.keys_of(tg_table_schema, tg_table_name, changed) as key
        where public.has_locked(lock || ':' || key)) then
      raise exception 'the transaction has not locked the key of a row in %: %', tg_table_name, changed;
    end if;
  end loop;
  return coalesce(new, old);
end $$;

create function public.add_lock_check() returns event_trigger language plpgsql as $$
declare
  made record;
begin
  for made in select * from pg_event_trigger_ddl_commands() where object_type = 'table' loop
    if made.object_identity !~ '[.](fleet_runs|heartbeats|leases|blobs|blob_pieces)$' then
      execute format('create trigger check_locks before insert or update or delete on %s '
        'for each row execute function public.check_locks()', made.object_identity);
    end if;
  end loop;
end $$;

create event trigger check_locks on ddl_command_end when tag in ('CREATE TABLE')
  execute function public.add_lock_check();
`;
