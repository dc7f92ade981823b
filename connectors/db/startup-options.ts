/** What the settings that can't be used could do. */
export const whatTheyCould = 'which could change values, leave out rows or allow writes';

/** Which command-line options of a PostgreSQL server are allowed; undefined if all of these are. */
export function allowedInsteadOf(startupOptions: string, reserved: RegExp): string | undefined {
  const names = settingsIn(startupOptions);
  if (names === undefined) return '-c name=value, --name=value';
  const refused = names.filter((name) => reserved.test(name));
  return refused.length === 0 ? undefined : `settings other than ${refused.join(', ')}, ${whatTheyCould}`;
}

/**
 * The settings in command-line options, as PostgreSQL's `pg_split_opts` and `ParseLongOption` read them: words are
 * separated by spaces, a backslash escapes the next character, and a dash in a name means an underscore. Returns
 * undefined if there are other options, such as `-e`, which sets the date style. Words without a dash are for poolers,
 * such as `endpoint=name`.
 */
function settingsIn(startupOptions: string): readonly string[] | undefined {
  const words = [...startupOptions.matchAll(/(?:\\[\s\S]|[^ \t\n\v\f\r\\])+/g)]
    .map(([word]) => word.replaceAll(/\\([\s\S])/g, '$1'))
    .values();
  const names: string[] = [];
  for (const word of words) {
    if (!word.startsWith('-')) continue;
    const setting = word === '-c' ? words.next().value : /^-[c-](.+)/s.exec(word)?.[1];
    if (setting === undefined) return undefined;
    names.push(setting.split('=')[0]!.replaceAll('-', '_'));
  }
  return names;
}
