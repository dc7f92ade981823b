import { type ColumnData, type Fields, option, type Scope, type StreamData } from '#sdk';

type Type = ColumnData['type'];

const levels = ['account', 'campaign', 'adset', 'ad'];

export const account = option.text({
  about: 'Numeric IDs of the ad accounts, separated by commas, with or without `act_`.',
  required: true,
  example: '1234567890',
});

const options = {
  account,
  level: option.choice(levels, {
    about: 'Level of detail. Each item at this level has one row per day.',
    default: 'campaign',
  }),
  metrics: option.list<string>(
    { type: 'string', minLength: 1 },
    { about: 'Metrics to read.', default: ['impressions', 'reach', 'clicks', 'spend'], example: ['spend', 'cpc'] },
  ),
  breakdowns: option.list<string>(
    { type: 'string', minLength: 1 },
    { about: 'Breakdowns of the metrics.', example: ['country', 'publisher_platform'] },
  ),
  actions: option.list<string>(
    { type: 'string', minLength: 1 },
    {
      about:
        'Action types, such as purchases. Each becomes two columns: the number of actions and their value (`_value`).',
      example: ['purchase', 'lead'],
    },
  ),
};

/** Insights parameters, for a query string or a form body. */
export const asking = {
  level: '{{ level }}',
  fields: (scope: Scope) => askedFields(scope).join(','),
  breakdowns: ({ breakdowns }: Scope) => (listOf(breakdowns).length === 0 ? undefined : listOf(breakdowns).join(',')),
  time_range: '{"since":"{{ window.from | date }}","until":"{{ window.to | date }}"}',
  time_increment: 1,
};

/** The last page still has a cursor, but not the URL of a next page. */
export const byCursor = { by: 'token', at: 'paging.cursors.after', present: 'paging.next', always: 'paging' } as const;

/** A stream of metrics, without the request that reads it. */
export function insights(
  about: string,
): Pick<StreamData, 'about' | 'options' | 'partitions' | 'records' | 'each' | 'paging' | 'columns'> {
  return {
    about,
    options,
    partitions: { account: { option: 'account' } },
    records: 'data',
    each: withActions,
    paging: byCursor,
    columns: columnsOf,
  };
}

/** A path below an ad account. The account number's `act_` prefix is optional. */
export function adAccount(rest: string) {
  return ({ partition }: Scope): string => {
    const { account: id } = partition as { readonly account: unknown };
    return `/act_${encodeURIComponent(String(id).replace(/^act_/, ''))}${rest}`;
  };
}

/** The IDs and names at the selected level and at the levels above. */
function levelFields(level: unknown): string[] {
  const depth = levels.indexOf(String(level));
  return levels.slice(0, depth + 1).flatMap((one) => [`${one}_id`, `${one}_name`]);
}

function askedFields({ level, metrics, actions }: Scope): string[] {
  const counted = listOf(actions).length === 0 ? [] : ['actions', 'action_values'];
  return [...new Set([...levelFields(level), ...listOf(metrics), ...counted])];
}

function columnsOf({ level, metrics, breakdowns, actions }: Scope): Record<string, ColumnData | Type> {
  const texts = [...levelFields(level), ...listOf(breakdowns)].map((name) => [name, 'text'] as const);
  const figures = listOf(metrics).map((name) => [name, metricType(name)] as const);
  const counted = listOf(actions)
    .flatMap((name) => [name, `${name}_value`])
    .map((name) => [name, 'decimal'] as const);
  return { date: { type: 'date', at: 'date_start' }, ...Object.fromEntries([...texts, ...figures, ...counted]) };
}

function metricType(name: string): Type {
  if (/^(?:impressions|reach|(?:unique_)?(?:inline_link_)?clicks|inline_post_engagement)$/.test(name)) return 'integer';
  if (/action|roas|outbound|^video_|^conversion/.test(name)) return 'json';
  return /^(?:spend|social_spend|frequency|cp[cmp]|.*ctr|cost_per_.*)$/.test(name) ? 'decimal' : 'text';
}

/** Actions are a list of types with values. Each requested type becomes a column. */
function withActions(record: Fields, { actions }: Scope): Fields {
  const found = listOf(actions).flatMap((name) => [
    [name, actionOf(record.actions, name)] as const,
    [`${name}_value`, actionOf(record.action_values, name)] as const,
  ]);
  return found.length === 0 ? record : { ...record, ...Object.fromEntries(found) };
}

function actionOf(list: unknown, kind: string): unknown {
  const all = (list ?? []) as readonly { readonly action_type?: unknown; readonly value?: unknown }[];
  return all.find(({ action_type }) => action_type === kind)?.value;
}

function listOf(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[];
}
