import { defineService, Moment, option, type RequestData, type Scope } from '#sdk';

const profile = option.integer({
  about: 'Numeric ID of the profile (the company) in iFormBuilder.',
  required: true,
  minimum: 1,
  example: 470_042,
});
const pageId = option.integer({
  about: 'Numeric ID of the page (the form); the `pages` stream lists all pages.',
  required: true,
  minimum: 1,
  example: 3_639_004,
});

const own = ['id', 'created_date', 'created_by', 'modified_date', 'modified_by'] as const;
const elements: RequestData = {
  path: 'profiles/{{ profile }}/pages/{{ page_id }}/elements',
  query: { fields: 'id:<,name,label,data_type', limit: 1000 },
};

/**
 * iFormBuilder (Zerion), API 6. The vendor's samples and public clients confirm the addresses, the signed login, limit
 * and offset, the Total-Count header and filters inside `fields`. The meanings of data types are not confirmed.
 */
export default defineService({
  id: 'iformbuilder',
  title: 'iFormBuilder',
  summary: 'Reads form records and the list of forms from iFormBuilder (Zerion).',
  options: {
    server: option.text({
      about: 'Server name: the first part of the server’s host name.',
      required: true,
      pattern: '^[A-Za-z0-9-]+$',
      example: 'app',
    }),
  },
  version: 'v60',
  base: 'https://{{ server }}.iformbuilder.com/exzact/api/{{ api_version }}',
  login: {
    kind: 'oauth',
    oauth: {
      grants: ['jwt_bearer', 'password'],
      token_url: 'https://{server}.iformbuilder.com/exzact/api/oauth/token',
      refresh: 'none',
      lifetime_seconds: 3600,
      assertion: { algorithm: 'HS256', lifetime_seconds: 540 },
    },
  },
  streams: {
    records: {
      about: 'The records of a form, with one column per element.',
      options: {
        profile,
        page_id: pageId,
        elements: option.list<string>(
          { type: 'string' },
          { about: 'Names of the elements to read. Default: all elements of the form.', example: ['store', 'total'] },
        ),
      },
      request: {
        path: 'profiles/{{ profile }}/pages/{{ page_id }}/records',
        query: { fields: fieldsOf, limit: 1000, offset: '{{ page.offset }}' },
      },
      records: '',
      paging: { by: 'offset', total: { header: 'Total-Count' } },
      incremental: { column: 'modified_date', key: 'id' },
      columns: {
        request: elements,
        records: '',
        name: 'name',
        type: 'data_type',
        types: {},
        wanted: '{{ elements }}',
        always: {
          page: { type: 'integer', scope: 'page_id' },
          id: 'integer',
          created_date: { type: 'timestamptz', date: 'iso' },
          created_by: 'text',
          modified_date: { type: 'timestamptz', date: 'iso' },
          modified_by: 'text',
        },
      },
    },
    pages: {
      about: 'The forms of a profile.',
      options: { profile },
      request: {
        path: 'profiles/{{ profile }}/pages',
        query: {
          fields: 'id:<,name,label,created_date,modified_date,record_count',
          limit: 100,
          offset: '{{ page.offset }}',
        },
      },
      records: '',
      paging: { by: 'offset', total: { header: 'Total-Count' } },
      columns: {
        id: 'integer',
        name: 'text',
        label: 'text',
        created_date: { type: 'timestamptz', date: 'iso' },
        modified_date: { type: 'timestamptz', date: 'iso' },
        record_count: 'integer',
      },
    },
    elements: {
      about: 'The elements of a form: its questions.',
      options: { profile, page_id: pageId },
      request: {
        path: 'profiles/{{ profile }}/pages/{{ page_id }}/elements',
        query: { ...elements.query, offset: '{{ page.offset }}' },
      },
      records: '',
      paging: { by: 'offset', total: { header: 'Total-Count' } },
      columns: {
        page: { type: 'integer', scope: 'page_id' },
        id: 'integer',
        name: 'text',
        label: 'text',
        data_type: 'integer',
      },
    },
  },
  errors: [
    { status: 429, verdict: 'wait', messageAt: 'error_message' },
    { status: [503, 504], verdict: 'wait', wait: '1s', messageAt: 'error_message' },
    {
      status: 404,
      verdict: 'config',
      messageAt: 'error_message',
      next: 'check `server`, `profile` and `page_id`; the `pages` stream lists the forms',
    },
    { status: [400, 406], verdict: 'config', messageAt: 'error_message' },
  ],
  check: {
    request: { path: 'profiles', query: { limit: 1 } },
    message: 'connected to iFormBuilder; login accepted',
  },
  limits: [
    'Form elements are returned as text, because their data types are not documented; use the `cast` transform for numbers and dates.',
    'A form with more than a thousand elements requires the `elements` option.',
    'Sluice logs in with an assertion signed with the client secret, as in the vendor’s samples; it never sends the secret. Client keys that contain a dot (a newer kind of login) and API 8 are not supported.',
    'An incremental run requests whole days, as in the vendor’s samples, and drops the records that earlier runs have read.',
  ],
  example: `sources:
  inspections:
    connector: iformbuilder
    server: app
    login: { client_id: "\${env:IFORM_KEY}", client_secret: "\${env:IFORM_SECRET}" }
jobs:
  stores:
    source: inspections
    query: { stream: records, profile: 470042, page_id: 3639004, incremental: true }
    write: { disposition: merge, key: [id] }
`,
});

/**
 * Sorts by ID, so that pages are stable. The filter is appended to the field. It starts one day early, because the
 * documentation only mentions filters by day.
 */
function fieldsOf({ fields, since }: Scope): string {
  const names = ['id:<', ...own.slice(1), ...((fields ?? []) as readonly string[])];
  if (!(since instanceof Moment)) return names.join(',');
  const day = since.plus('-1d').text('date');
  return names.map((name) => (name === 'modified_date' ? `${name}(>"${day}")` : name)).join(',');
}
