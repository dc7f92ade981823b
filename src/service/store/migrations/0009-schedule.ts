/** When each instance is to be refreshed next; empty where it is not by schedule. Kept by the database itself. */
export const sql = `
alter table datasource_instances add column refresh_due_at integer;
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
create trigger refresh_due_anew after update of refresh_interval, disabled, no_refresh on datasources
when old.refresh_interval <> new.refresh_interval or old.disabled <> new.disabled or old.no_refresh <> new.no_refresh
begin
  update datasource_instances set refresh_due_at = (select due_at from refresh_plan p where p.instance_id = id)
  where datasource_id = new.id;
end;
update datasource_instances set refresh_due_at = (select due_at from refresh_plan p where p.instance_id = id);
`;
