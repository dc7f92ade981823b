/** The table that the expressions use, with extreme, empty, null and ordinary values. */
export const zoo = `
set sql_mode = '';
create table z (
  id int primary key, grp int,
  ti tinyint, uti tinyint unsigned, flag boolean, si smallint, mi mediumint, i int, bi bigint, ubi bigint unsigned,
  zf int(6) zerofill, de decimal(12,4), de30 decimal(60,20), fl float, db double, y year,
  d date, dt datetime, dt6 datetime(6), ts timestamp null, ts3 timestamp(3) null, tm time, tm3 time(3),
  c char(5), vc varchar(20), lat varchar(20) character set latin1, asc7 varchar(20) character set ascii,
  u16 varchar(20) character set utf16, vbin varchar(20) collate utf8mb4_bin, txt text, ltxt longtext,
  en enum('a','b','ü'), st set('x','y','z'), bn binary(4), vb varbinary(20), bl blob, js json, p point,
  f bit(1), g3 bit(3), g bit(10), g8 bit(8), g64 bit(64)) default character set utf8mb4;
insert into z values (1, 1, -128, 255, true, -32768, 8388607, 2147483647, 9223372036854775807, 18446744073709551615, 42,
  12345678.1234, 1234567890123456789012345678901234567890.12345678901234567891, 0.1, 0.30000000000000004, 2024,
  '2024-02-29', '2024-02-29 12:34:56', '2024-02-29 12:34:56.123456', '2024-02-29 12:34:56', '2024-02-29 12:34:56.789',
  '838:59:59', '-100:30:01.5', 'ab', 'hällo', 'Müller', 'plain', 'ü漢', 'Bin', 'text é', 'long ü', 'ü', 'x,z',
  x'00ff01fe', x'00ff', x'c3bc00', '{"a": [1, 2.50, "ü"], "n": 12345678901234567890}', ST_GeomFromText('POINT(1 2)'),
  b'1', b'101', b'1010101010', x'31', ~0);
insert into z values (2, 1, 0, 0, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '1000-01-01', '1000-01-01', '1000-01-01',
  '1970-01-02 00:00:01', '1970-01-02 00:00:01', '00:00:00', '00:00:00', '', '', '', '', '', '', '', '', 'a', '', '', '',
  '', '[]', ST_GeomFromText('POINT(-1.5 0)'), b'0', b'0', b'0', b'0', b'0');
insert into z (id, grp) values (3, 2);
insert into z values (4, 2, 5, 7, 1, 3, -3, -5, -9007199254740993, 9007199254740993, 1234567, -0.0001, -0.5, -1.5e-10,
  1e16, 1999, '9999-12-31', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999999', '2037-01-01', '2037-01-01 00:00:00.001',
  '12:00:00', '12:00:00.25', '10', '10.5', '3', '-7', '9', 'x', '1e2', '5', 'b', 'y', '10', '20', '30', '"s"', null,
  b'1', b'11', b'110001', x'aa', x'3130303030303030');`;

const list = (text: string): readonly string[] =>
  text
    .split(/\s\|\s|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Expressions by topic. Functions that a server doesn't support are skipped. */
export const expressions: Readonly<Record<string, readonly string[]>> = {
  bits: list(`
    f+0 | g+0 | max(f) over () | min(g3) over () | greatest(f, g3) | case when id=1 then f else g3 end | nullif(f,0)
    nullif(f, 1) | if(id>1,f,g3) | if(id=1, f, f) | coalesce(f,g3) | ifnull(g3, f)
    (select f from z x where x.id = z.id) | lag(f) over (order by id) | first_value(g3) over (order by id) | f and 1
    not f | f = 1 | f|1 | f & 1 | ~g | g << 2 | f xor 1 | f is true | -g | g * 1.5 | g / 2 | g div 2 | g mod 3
    concat(g3) | hex(g) | bin(g) | oct(g) | cast(g as signed) | cast(g as unsigned)
    cast(g as decimal(10,2)) | cast(g as binary) | coalesce(f, 1) | if(f, 'yes', 'no') | elt(f + 1, 'a', 'b')
    least(f, 1) | b'101' | 0b1 | x'41' | 0x41 | x'41' + 0 | b'11' + 0 | _utf8mb4 x'c3bc' | _binary 'ab' | n'abc'
  `),
  columns: list(`
    ti | uti | flag | si | mi | i | bi | ubi | zf | de | de30 | fl | db | y | d | dt | dt6 | ts | ts3 | tm | tm3 | c
    vc | lat | asc7 | u16 | vbin | txt | ltxt | en | st | bn | vb | bl | js | p | f | g3 | g | g8 | g64
  `),
  literals: list(`
    1 | -1 | 0 | 9223372036854775807 | 9223372036854775808 | 18446744073709551615 | 18446744073709551616
    -9223372036854775808 | 1.0 | 1.50 | -0.00 | 1e0 | 1e300 | 1e-300 | 0.1e1 | true | false | null | 'text' | ''
    'ü漢😀'
  `),
  arithmetic: list(`
    ti + uti | bi + 0 | ubi + 0 | bi div 2 | bi % 10 | bi / 3 | ubi div 2 | -ubi | i * i | i - uti | uti - 1
    ti * 1.5 | de * de | de / 3 | de + 1 | de30 * 2 | de30 / 7 | -de | abs(de) | fl + 0 | fl * 1 | db * 3 | db / 3
    -db | fl + db | de + db | de + i | bi + de | ubi + de | y + 1 | y - 2000 | i / 0 | i div 0 | mod(i, 0) | 1 / 3
    10 / 4 | 5 div 2 | 7 mod 3 | 2 * 3.0 | 0.1 + 0.2 | 1e0 + 1 | '5' + 1 | '1.5' + 1 | vc + 0 | concat(i, '') + 0
    zf + 1 | zf * 1 | max(zf) over () | coalesce(zf, 0) | coalesce(zf, zf) | if(1, zf, zf)
    case when id=1 then zf else i end | lpad(zf, 8, '0') | concat(zf) | cast(zf as char) | nullif(zf, 1)
    (select zf from z x where x.id=z.id)
  `),
  'numeric functions': list(`
    round(de, 2) | round(de) | round(de, -2) | round(db, 2) | round(i, -1) | round(fl, 1) | truncate(de, 1)
    truncate(db, 1) | ceil(de) | floor(de) | ceil(db) | floor(db) | ceiling(i) | abs(ti) | sign(de) | pow(2, 10)
    power(de, 2) | sqrt(2) | exp(1) | ln(2) | log(10, 100) | log2(8) | pi() | sin(1) | atan2(1, 2) | degrees(1)
    mod(de, 3) | greatest(i, 1.5) | least(de, db) | greatest('a', vc) | greatest(d, '2024-01-01') | greatest(1, '2')
    least(ubi, bi) | crc32('abc') | conv('ff', 16, 10) | format(de, 2) | format(12345.678, 1) | 5 & 3 | 5|3 | 5 ^ 3
    ~0 | 1 << 40 | bit_count(255) | ubi & 255 | rand(1) * 0
  `),
  conditions: list(`
    i = 1 | i > 0 and flag | i between 1 and 5 | i in (1, 2) | i is null | isnull(i) | vc like 'h%' | not i
    i <=> null | exists (select 1) | interval(i, 1, 10) | strcmp('a', 'b') | if(i > 0, 1, 'x') | if(i > 0, 1, 1.5)
    if(i > 0, 1, null) | if(id = 1, d, dt) | if(id = 1, bi, ubi) | if(id=1, vb, vc) | if(id=1, i, vb)
    ifnull(null, i) | ifnull(i, 'none') | ifnull(d, 'none') | ifnull(de, 1) | ifnull(db, de)
    coalesce(null, null, 5) | coalesce(d, dt) | coalesce(i, vc) | coalesce(ubi, bi) | coalesce(de, db)
    coalesce(en, st) | coalesce(js, '{}') | coalesce(tm, tm3) | coalesce(vb, vc) | coalesce(d, 0) | coalesce(y, 1)
    coalesce(y, y) | coalesce(bl, txt) | nullif(i, 0) | nullif(de, 0) | nullif(vc, '') | nullif(d, '2024-02-29')
    nullif(dt6, null) | nullif(tm3, 0) | nullif(ts, null) | nullif(y, 1999) | nullif(en, 'a') | nullif(js, 1)
    nullif(vb, '') | nullif(p, null) | case id when 1 then 'one' when 2 then 2 end
    case when id = 1 then i when id = 2 then de else db end | case when id = 1 then d else vc end
    case when id = 1 then ts else dt end | case when id=1 then y else i end | case when id=1 then tm else dt end
    case when id=1 then js else vc end | case when id=1 then vb else i end | case when id=1 then p end
  `),
  casts: list(`
    cast(i as char) | cast(i as char(2)) | cast('12abc' as signed) | cast(vc as signed)
    cast(de as signed) | cast(de as decimal(20,2)) | cast('1.239' as decimal(10,2)) | cast(i as decimal)
    cast('2024-01-01' as date) | cast('2024-01-01 10:00' as datetime) | cast('2024-01-01 10:00:00.5' as datetime(3))
    cast('25:30:01.5' as time(1)) | cast('800:00:00' as time) | cast(dt6 as date) | cast(dt6 as time(6))
    cast(dt6 as datetime) | cast(d as datetime) | cast(d as unsigned) | cast(dt as unsigned) | cast(tm as signed)
    cast(tm as char) | cast(vc as binary) | cast(i as binary) | binary vc
    convert(vc using latin1) | convert(i, char) | cast(y as char) | cast(y as unsigned)
    cast(en as unsigned) | en + 0 | st + 0 | concat(en) | upper(en) | max(en) over () | cast(db as char)
    cast(js as char) | cast(1 as double) | cast(i as float) | cast(vc as json)
    cast(2024 as year) | cast(d as json)
  `),
  'text functions': list(`
    concat(i, vc) | concat(vc, vb) | concat(d) | concat(dt6, '') | concat(de, 'x') | concat(db) | concat(ts)
    concat(js) | concat_ws(',', i, vc, d) | upper(vc) | lower(lat) | left(vc, 2) | right(vb, 1) | substring(bl, 2)
    substring(vc, 2, 2) | trim(c) | lpad(i, 12, '0') | lpad(vc, 8, ' ') | repeat(vc, 2) | replace(vc, 'l', 'L')
    reverse(vc) | reverse(vb) | space(2) | char(65, 66) | char(252 using latin1) | char(0x41) | ascii(vc) | ord(vc)
    hex(vc) | hex(vb) | hex(255) | unhex('C3BC') | unhex(hex(vc)) | to_base64(vb) | from_base64('AAE=') | md5('a')
    sha1('a') | sha2('a', 256) | compress('aaa') is null | uncompressed_length(compress('aaa')) | quote(vc)
    insert(vc, 1, 1, 'X') | elt(2, 'a', i) | field('b', 'a', 'b') | find_in_set('z', st) | make_set(3, 'a', 'b')
    export_set(5, 'Y', 'N', ',', 4) | instr(vc, 'l') | length(vc) | char_length(u16) | bit_length(vc)
    soundex('hello') | substring_index('a.b.c', '.', 2) | inet_aton('10.0.0.1') | inet_ntoa(167772161)
    inet6_aton('::1') | inet6_ntoa(inet6_aton('::1')) | uuid() is null | charset(vc) | collation(vc)
    vc collate utf8mb4_bin | vbin | concat(vbin, 'x') | user() is null | database() | version() is null
    weight_string('a') | aes_encrypt('a', 'k') | aes_decrypt(aes_encrypt('a', 'k'), 'k') | format_bytes(1000)
    password('a') is null | to_char(d, 'YYYY')
  `),
  'dates and times': list(`
    date(dt6) | time(dt6) | year(d) | month(d) | day(d) | dayname(d) | hour(tm) | minute(dt) | second(tm3)
    microsecond(dt6) | quarter(d) | week(d) | yearweek(d) | weekday(d) | dayofyear(d) | to_days(d)
    from_days(739000) | last_day(d) | makedate(2024, 60) | maketime(25, 30, 1.5) | maketime(800, 0, 0)
    sec_to_time(360000.5) | sec_to_time(90061) | time_to_sec(tm) | timediff(dt, '2024-01-01 00:00:00')
    timediff(dt6, '2024-02-28 00:00:00.5') | addtime(tm, '01:00:00') | addtime(dt, '01:00:00.5')
    subtime(tm3, '00:00:00.25') | d + interval 1 day | d + interval 1 hour | d - interval 1 second
    dt + interval 1 microsecond | '2024-01-31' + interval 1 month | date_add('2024-01-01', interval 1 hour)
    date_add('2024-01-01 00:00:00', interval '1.5' second) | date_add(tm, interval 1 hour)
    date_sub(ts, interval 1 day) | d + 1 | dt + 0 | dt6 + 0 | tm + 0 | tm3 + 0 | ts + 0 | ts3 + 0
    datediff(d, '2024-01-01') | timestampdiff(hour, d, dt) | timestampadd(day, 1, d) | timestampadd(second, 1, dt6)
    timestamp(d) | timestamp(d, '01:02:03') | timestamp('2024-01-01') | timestamp '2024-01-01 00:00:00.25'
    date '2024-01-01' | time '10:11:12.5' | str_to_date('2024-03-04', '%Y-%m-%d')
    str_to_date('2024-03-04 10:11', '%Y-%m-%d %H:%i') | str_to_date(concat('2024-03-0', grp), '%Y-%m-%d')
    str_to_date('x', '%Y') | date_format(d, '%d.%m.%Y') | time_format(tm, '%H') | from_unixtime(0)
    from_unixtime(1.5) | from_unixtime(0, '%Y') | unix_timestamp(ts) | unix_timestamp(ts3)
    unix_timestamp('2024-01-01') | convert_tz(dt, '+00:00', '+02:00') | extract(year from d)
    extract(day_hour from dt) | extract(second_microsecond from dt6) | period_add(202401, 2)
    period_diff(202403, 202401) | ts | max(ts) over () | coalesce(ts, ts) | coalesce(ts, dt) | ifnull(ts, ts3)
    if(1, ts, ts) | (select ts from z x where x.id = z.id) | lag(ts) over (order by id) | lag(d) over (order by id)
    lag(tm3) over (order by id) | lead(dt6) over (order by id) | max(d) over () | min(tm) over () | max(dt6) over ()
    max(y) over () | lag(y) over (order by id) | (select y from z x where x.id = z.id)
    (select d from z x where x.id=z.id) | (select tm3 from z x where x.id=z.id) | greatest(d, d) | greatest(dt, d)
    greatest(tm, tm3) | greatest(ts, ts) | least(y, y) | any_value(d) | ceil(d) | round(tm3)
    current_date = current_date | utc_timestamp() is null | now(3) is null
  `),
  'window functions': list(`
    row_number() over (order by id) | rank() over (order by id) | dense_rank() over (order by grp)
    percent_rank() over (order by id) | cume_dist() over (order by id) | ntile(2) over (order by id)
    lag(i) over (order by id) | lead(de) over (order by id) | lag(vc, 1, 'none') over (order by id)
    lag(vb) over (order by id) | first_value(db) over (order by id) | last_value(bi) over (order by id)
    nth_value(ubi, 1) over (order by id) | sum(i) over () | sum(de) over () | sum(db) over () | sum(fl) over ()
    avg(i) over () | avg(de) over () | avg(db) over () | count(*) over () | min(vc) over () | max(vb) over ()
    max(ubi) over () | max(de30) over () | stddev(i) over () | variance(i) over () | bit_or(i) over ()
    max(js) over () | max(en) over () | max(st) over () | lag(en) over (order by id) | lag(js) over (order by id)
    lag(p) over (order by id) is null | lag(zf) over (order by id) | sum(zf) over () | min(fl) over ()
    lag(fl) over (order by id) | max(bl) over () | max(txt) over () | median(i) over ()
  `),
  json: list(`
    json_extract(js, '$.a') | json_unquote(json_extract(js, '$.a[2]')) | json_extract(js, '$.n')
    json_value(js, '$.n') | json_object('a', i, 'b', vc) | json_array(i, de, db, vc, null, true)
    json_array(d, dt6) | json_length(js) | json_keys(js) | json_type(js) | json_valid(js)
    json_contains(js, '1', '$.a') | json_set('{}', '$.a', 1) | json_merge_patch('{}', '{"a": 1}') | json_quote(vc)
    json_search('["a"]', 'one', 'a') | json_depth(js) | js -> '$.a' | js ->> '$.a' | json_extract(js, '$.a[1]') + 0
    json_arrayagg(i) over () | json_pretty('[1]') | json_detailed('[1]') | json_compact('[1, 2]')
    json_query('{"a": {"b": 1}}', '$.a') | json_object('d', d) | json_array(vb) is null
  `),
  geometry: list(`
    ST_AsText(p) | ST_X(p) | ST_Y(p) | ST_AsGeoJSON(p) | ST_AsBinary(p) | ST_Distance(p, p) | ST_SRID(p)
    ST_GeometryType(p) | ST_IsEmpty(p) | ST_GeomFromText('POINT(3 4)') | point(1, 2) | ST_Buffer(p, 0) is null
    ST_AsWKB(p)
  `),
  'variables, nulls and subqueries': list(`
    @a | @a := 5 | @b := 1.5 | @c := 'text' | @d := d | @e := vb | @f := 2.5e0 | @@version_comment is null
    @@max_connections > 0 | @@autocommit | @@time_zone | last_insert_id() | row_count() < 5 | found_rows() >= 0
    connection_id() > 0 | sleep(0) | benchmark(1, 1) | values(i) | default(i) | uuid_short() > 0 | inet_aton(null)
    name_const('x', 5) | name_const('x', 1.5) | name_const('x', 'y') | mbrwithin(p, p) | is_uuid('x')
    uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db')
    bin_to_uuid(uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db')) | nvl(i, 0) | nvl2(i, 'a', 'b')
    decode_oracle(i, 1, 'a', 'b') | cast(null as signed) | cast(null as date) | cast(null as char) | null + 1
    concat(null) | coalesce(null) | if(0, 1, null) | (select null) | case when 0 then 1 end | greatest(null, 1)
    nullif(1, 1) | (select max(i) from z) | (select max(de) from z) | (select group_concat(id) from z)
    (select count(*) from z) | (select avg(i) from z) | (select vb from z limit 1) | (select js from z limit 1)
    (select db from z limit 1) | (select fl from z limit 1)
  `),
};

/** Aggregates, over groups. */
export const aggregates = list(`
  max(f) | min(f) | max(g3) | bit_or(f) | bit_and(g) | bit_xor(g) | sum(f) | avg(f) | count(f) | count(distinct g)
  group_concat(i) | group_concat(vc) | group_concat(vb) | group_concat(d) | group_concat(js) | group_concat(de)
  max(i) | min(bi) | max(ubi) | max(de) | max(de30) | max(fl) | max(db) | max(y) | max(d) | max(dt6) | max(ts)
  max(ts3) | max(tm) | max(tm3) | min(tm3) | max(vc) | max(lat) | max(vbin) | max(en) | max(st) | max(bn)
  max(vb) | max(bl) | max(txt) | max(js) | max(zf) | min(zf) | sum(zf) | sum(i) | sum(bi) | sum(ubi) | sum(de)
  sum(de30) | sum(fl) | sum(db) | sum(y) | sum(vc) | sum(d) | avg(i) | avg(de) | avg(db) | avg(bi) | avg(y)
  count(*) | stddev(i) | var_samp(de) | json_arrayagg(i) | json_objectagg(id, vc) | any_value(i) | any_value(d)
  any_value(js) | any_value(vb) | grp | max(grp) + 1 | grouping(grp) | max(distinct i)
  coalesce(max(d), '2024-01-01') | coalesce(sum(i), 0) | if(max(i) > 1, max(d), null) | max(concat(i, vb))
  max(coalesce(de, 0)) | max(p) is null | max(if(id=1, tm, null)) | max(case when id = 1 then ts end)
  max(nullif(y, 1999)) | min(ti) | max(uti) | max(flag) | max(en + 0)
`);

/** Whole statements in which a value passes through a union, a derived table, a view, or a routine. */
export const statements: readonly string[] = [
  'select f as v from z union select g3 from z',
  'select f as v from z union all select g3 from z',
  'select f as v from z union all select 7',
  'select g3 as v from z union select i from z',
  "select i as v from z where id = 1 union all select 'x'",
  'select i as v from z union all select de from z',
  'select de as v from z union all select db from z',
  'select bi as v from z union all select ubi from z',
  'select d as v from z union all select dt from z',
  'select dt as v from z union all select dt6 from z',
  'select ts as v from z union all select dt from z',
  'select ts as v from z union all select ts3 from z',
  'select d as v from z union all select tm from z',
  'select y as v from z union all select i from z',
  'select y as v from z union all select y from z',
  'select zf as v from z union all select zf from z',
  'select zf as v from z union all select i from z',
  'select en as v from z union all select st from z',
  'select en as v from z union all select en from z',
  'select vc as v from z union all select vb from z',
  'select vc as v from z union all select lat from z',
  'select bn as v from z union all select bl from z',
  'select js as v from z union all select js from z',
  'select js as v from z union all select vc from z',
  'select p as v from z union all select p from z',
  'select null as v from z union all select i from z',
  'select null as v from z union all select d from z',
  'select f as v from (select distinct f from z) x order by v',
  'select m as v from (select grp, max(f) as m from z group by grp) x order by grp',
  'select m as v from (select coalesce(f, f) as m, id from z) x order by id',
  'select m as v from (select coalesce(f, f) as m, id from z limit 10) x order by id',
  'select m as v from (select nullif(ts, null) as m, id from z limit 10) x order by id',
  'select m as v from (select nullif(y, null) as m, id from z limit 10) x order by id',
  'with recursive n as (select 1 as v union all select v + 1 from n where v < 4) select v from n order by v',
  'with n as (select max(f) over () as v, id from z) select v from n order by id',
  'select f as v from z_view order by id',
  'select cf as v from z_view order by id',
  'select mf as v from z_groups order by grp',
  'select cf as v from z left join z_view on z_view.id = z.id + 1 order by z.id',
  'select flag_of(id) as v from z order by id',
  'select year_of(id) as v from z order by id',
  'select stamp_of(id) as v from z order by id',
  'select bytes_of(id) as v from z order by id',
  'select f as v from z group by f order by f',
  'select f as v from z group by f with rollup',
  'select y as v from z group by y with rollup',
  'select d as v from z group by d with rollup',
  'select zf as v from z group by zf with rollup',
  'select vb as v from z group by vb with rollup',
  'select ts as v from z group by ts, id with rollup',
  'select distinct f as v from z order by f',
  'select f as v from z order by rand(1)',
];

/** One statement each. */
export const views: readonly string[] = [
  'create view z_view as select id, f, coalesce(f, f) as cf, coalesce(g8, g8) as cg from z',
  'create view z_groups as select grp, max(f) as mf from z group by grp',
  'create function flag_of(n int) returns bit(1) reads sql data return (select f from z where id = n)',
  'create function year_of(n int) returns year reads sql data return (select y from z where id = n)',
  'create function stamp_of(n int) returns timestamp reads sql data return (select ts from z where id = n)',
  'create function bytes_of(n int) returns varbinary(20) reads sql data return (select vb from z where id = n)',
];
