import { defineService, fileOptions, type LoginData, option, renderDeep, type StreamData } from '#sdk';

const token_url = 'https://api.box.com/oauth2/token';
const described = 'type,id,name,size,created_at,modified_at,content_modified_at,modified_by,owned_by,sha1';

/**
 * Logs in as the app, without a user's consent. The login acts as the enterprise's service account or as one of the
 * enterprise's users.
 */
function appLogin(subject: 'enterprise' | 'user'): LoginData {
  const when = `${subject}_id`;
  return {
    kind: 'oauth',
    when,
    oauth: {
      grants: ['client_credentials'],
      token_url,
      token_parameters: { box_subject_type: subject, box_subject_id: `{${when}}` },
      refresh: 'none',
      lifetime_seconds: 3600,
    },
  };
}

/**
 * Box redirects to another host for a file's content. If the content isn't ready yet, the response says how long to
 * wait.
 */
const bytes = {
  request: { path: '/files/{{ partition.file.id | url }}/content' },
  decode: { as: 'file', name: '{{ partition.file.name }}', modified: '{{ partition.file.modified }}' },
  records: '',
  columns: 'discovered',
} as const satisfies Partial<StreamData>;

const fields = { id: 'id', name: 'name', modified: 'modified_at' };

/** Box API 2.0. */
export default defineService({
  id: 'box',
  title: 'Box',
  summary: 'Reads Box files as tables (csv, json, xml, xlsx, zip, tar), and Box folder listings and events.',
  version: '2.0',
  base: 'https://api.box.com/{{ api_version }}',
  options: {
    enterprise_id: option.text({
      about: 'Enterprise ID, if the app logs in with client credentials as its service account.',
      example: '123456',
    }),
    user_id: option.text({
      about: 'ID of a managed user, if the app logs in with client credentials as that user.',
      example: '234567',
    }),
  },
  login: [
    appLogin('enterprise'),
    appLogin('user'),
    {
      kind: 'oauth',
      oauth: {
        grants: ['authorization_code'],
        authorize_url: 'https://account.box.com/api/oauth2/authorize',
        token_url,
        revoke_url: 'https://api.box.com/oauth2/revoke',
        // A refresh token is valid for 60 days and can be used only once.
        refresh: 'rotating',
        lifetime_seconds: 3600,
      },
    },
  ],
  streams: {
    files: {
      about: 'Files, folders and links in a folder.',
      options: {
        folder: option.text({
          about: 'Folder IDs, separated by commas; 0 is the root folder. Subfolders are not read.',
          default: '0',
          example: '123456789',
        }),
      },
      partitions: { folder: { option: 'folder' } },
      request: {
        path: '/folders/{{ partition.folder | url }}/items',
        query: { fields: described, usemarker: 'true', marker: '{{ page.token }}', limit: 1000 },
      },
      records: 'entries',
      paging: { by: 'token', at: 'next_marker', missing: 'end' },
      columns: {
        folder: { type: 'text', scope: 'partition.folder' },
        kind: { type: 'text', at: 'type' },
        id: 'text',
        name: 'text',
        size: 'integer',
        created: { type: 'timestamptz', at: 'created_at' },
        modified: { type: 'timestamptz', at: 'modified_at' },
        content_modified: { type: 'timestamptz', at: 'content_modified_at' },
        modified_by: { type: 'text', at: 'modified_by.login' },
        owner: { type: 'text', at: 'owned_by.login' },
        sha1: 'text',
      },
    },
    content: {
      about: 'Rows from the files with the given IDs.',
      options: {
        file: option.text({
          about: "File IDs, separated by commas; the ID is the number in a file's URL.",
          required: true,
          example: '987654321',
        }),
        ...fileOptions,
      },
      partitions: {
        id: { option: 'file' },
        file: {
          request: { path: '/files/{{ partition.id | url }}', query: { fields: 'name,modified_at' } },
          records: { one: '' },
          fields,
        },
      },
      ...bytes,
    },
    newest: {
      about: 'Rows from the most recently changed files that match a search.',
      options: {
        search: option.text({
          about: 'Text to search for in file names and contents.',
          required: true,
          example: 'orders',
        }),
        within: option.text({ about: 'IDs of the folders to search, separated by commas.', example: '123456789' }),
        endings: option.text({ about: 'File name extensions to include, separated by commas.', example: 'csv,xlsx' }),
        count: option.integer({
          about: 'Number of files to read into one table, newest first.',
          default: 1,
          minimum: 1,
          maximum: 100,
        }),
        ...fileOptions,
      },
      partitions: {
        file: {
          request: {
            path: '/search',
            query: {
              query: '{{ search }}',
              type: 'file',
              ancestor_folder_ids: '{{ within }}',
              file_extensions: '{{ endings }}',
              sort: 'modified_at',
              direction: 'DESC',
              fields: 'name,modified_at',
              limit: '{{ count }}',
            },
          },
          records: 'entries',
          fields,
        },
      },
      ...bytes,
    },
    events: {
      about: 'Events: uploads, downloads, shares, logins.',
      options: {
        whose: option.choice(['enterprise', 'user'], {
          about: '`enterprise`: all users’ events; requires an administrator. `user`: the logged-in user’s events.',
          default: 'enterprise',
        }),
        created_after: option.text({
          about: 'With `whose: enterprise`: the date at which the first run starts, or a template for it.',
          default: '{{ today - 30d }}',
        }),
      },
      request: {
        path: '/events',
        query: {
          stream_type: ({ whose }) => (whose === 'enterprise' ? 'admin_logs' : 'all'),
          stream_position: ({ page, state }) => (page as { token?: unknown }).token ?? state,
          created_after: ({ whose, state, ...scope }) =>
            whose === 'enterprise' && state === undefined
              ? renderDeep('{{ first | iso }}', { ...scope, first: renderDeep(scope.created_after, scope) })
              : undefined,
          limit: 500,
        },
      },
      records: 'entries',
      // Every response includes a next position, even the last one. An empty chunk therefore marks the end.
      paging: { by: 'token', at: 'next_stream_position', empty: 'chunk_size' },
      incremental: { state: 'next_stream_position' },
      distinct: 'event_id',
      key: ['id'],
      columns: {
        id: { type: 'text', at: 'event_id' },
        type: { type: 'text', at: 'event_type' },
        created: { type: 'timestamptz', at: 'created_at' },
        by: { type: 'text', at: 'created_by.login' },
        by_name: { type: 'text', at: 'created_by.name' },
        ip_address: 'text',
        source: 'json',
      },
    },
  },
  errors: [
    { status: 202, verdict: 'wait', message: 'has not prepared the file yet' },
    {
      status: 404,
      verdict: 'config',
      messageAt: 'message',
      message: 'has no such file or folder, or the account has no access to it',
      next: 'check `file`, `folder` and `within`; an app that uses client credentials sees only what is shared with its service account',
    },
    {
      status: 403,
      verdict: 'permission',
      messageAt: 'message',
      next: 'check the app’s scopes in the developer console; enterprise events require an administrator',
    },
    { status: 400, verdict: 'config', messageAt: 'message', next: 'check the query options' },
  ],
  check: {
    request: { path: '/users/me', query: { fields: 'login' } },
    message: 'logged in as {{ answer.login }}',
  },
  limits: [
    'Set the app’s scopes in the Box developer console. Apps that sign with their own key (JWT) are not supported; use client credentials instead.',
    'Box’s request limits are unconfirmed. If they are exceeded, Box’s 429 response says how long to wait.',
    'With `incremental: true`, `content` and `newest` fetch their files only if at least one of them has changed, and then fetch all of them.',
    'Box indexes new files with a delay, so `newest` may miss recent ones. `content` doesn’t use the index and is always current.',
    'Box may return an event more than once. Sluice removes duplicates within a run, but not across runs.',
  ],
  example: `sources:
  box:
    connector: box
    login: { client_id: "\${env:BOX_CLIENT_ID}", client_secret: "\${env:BOX_CLIENT_SECRET}" }
jobs:
  orders:
    source: box
    query: { stream: newest, search: orders, endings: csv }
`,
});
