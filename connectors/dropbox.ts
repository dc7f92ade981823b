import { defineService, fileOptions, option, type RequestData } from '#sdk';

const more: RequestData = { path: '/2/files/list_folder/continue', json: { cursor: '{{ page.token }}' } };

/**
 * Dropbox API v2. All reads are POST requests. A listing ends with a cursor, which can later be used to list the
 * changes since then.
 */
export default defineService({
  id: 'dropbox',
  title: 'Dropbox',
  summary:
    'Reads Dropbox files as tables (csv, json, xml, xlsx, zip, tar), and Dropbox folder listings and search results.',
  base: 'https://api.dropboxapi.com',
  login: {
    kind: 'oauth',
    oauth: {
      grants: ['authorization_code'],
      authorize_url: 'https://www.dropbox.com/oauth2/authorize',
      token_url: 'https://api.dropboxapi.com/oauth2/token',
      revoke_url: 'https://api.dropboxapi.com/2/auth/token/revoke',
      pkce: true,
      scopes: ['account_info.read', 'files.metadata.read', 'files.content.read'],
      authorize_parameters: { token_access_type: 'offline' },
      refresh: 'static',
      lifetime_seconds: 14_400,
    },
  },
  streams: {
    files: {
      about: 'Files and folders in a folder and its subfolders.',
      options: {
        path: option.text({
          about: 'Path of the folder; empty for the whole Dropbox.',
          default: '',
          example: '/Reports',
        }),
        recursive: option.boolean({ about: 'Include subfolders.', default: true }),
        deleted: option.boolean({
          about: 'Include deleted files, as rows with `deleted: true`, a path and no `id`.',
          default: false,
        }),
      },
      request: {
        path: '/2/files/list_folder',
        json: { path: '{{ path }}', recursive: '{{ recursive }}', include_deleted: '{{ deleted }}', limit: 2000 },
      },
      records: 'entries',
      // A listing that continues from a cursor includes deletions regardless of `include_deleted`.
      each: (entry, { deleted: wanted }) => {
        const deleted = entry['.tag'] === 'deleted';
        return deleted && wanted !== true ? undefined : { ...entry, deleted };
      },
      key: ['path'],
      paging: { by: 'token', at: 'cursor', more: 'has_more', onward: more },
      incremental: {
        state: 'cursor',
        onward: { path: '/2/files/list_folder/continue', json: { cursor: '{{ state }}' } },
      },
      columns: {
        kind: { type: 'text', at: ['.tag'] },
        id: 'text',
        name: 'text',
        path: { type: 'text', at: 'path_display' },
        size: 'integer',
        modified: { type: 'timestamptz', at: 'server_modified' },
        client_modified: 'timestamptz',
        rev: 'text',
        content_hash: 'text',
        deleted: 'boolean',
      },
    },
    content: {
      about: 'Rows from the files with the given paths.',
      options: {
        file: option.list<string>(
          { type: 'string', minLength: 1 },
          {
            about: 'Paths of the files to read as one table.',
            required: true,
            example: ['/Reports/orders.csv'],
          },
        ),
        ...fileOptions,
      },
      partitions: { file: { option: 'file' } },
      request: {
        method: 'POST',
        base: 'https://content.dropboxapi.com',
        path: '/2/files/download',
        // Headers may contain only ASCII, so other characters in the path are escaped.
        headers: { 'dropbox-api-arg': '{"path":{{ partition.file | ascii_json }}}' },
      },
      decode: { as: 'file', name: '{{ partition.file }}' },
      records: '',
      columns: 'discovered',
    },
    search: {
      about: 'The files and folders that a search finds.',
      options: {
        query: option.text({
          about: 'Text to search for in file names and contents.',
          required: true,
          example: 'invoice',
        }),
      },
      request: { path: '/2/files/search_v2', json: { query: '{{ query }}', options: { max_results: 1000 } } },
      records: 'matches.*.metadata.metadata',
      paging: {
        by: 'token',
        at: 'cursor',
        more: 'has_more',
        onward: { path: '/2/files/search/continue_v2', json: { cursor: '{{ page.token }}' } },
      },
      columns: {
        kind: { type: 'text', at: ['.tag'] },
        id: 'text',
        name: 'text',
        path: { type: 'text', at: 'path_display' },
        size: 'integer',
        modified: { type: 'timestamptz', at: 'server_modified' },
      },
    },
  },
  errors: [
    { status: 409, body: { error_summary: /^reset\b/ }, verdict: 'reset', message: 'no longer accepts the cursor' },
    {
      status: 409,
      body: { error_summary: /^(?:path\/)?not_found/ },
      verdict: 'config',
      message: 'has no such file or folder',
      next: 'check `path` or `file`: paths start with a slash; an empty `path` is the whole Dropbox',
    },
    { status: 409, verdict: 'fail' },
    { status: 429, verdict: 'wait', wait: { at: 'error.retry_after', unit: 'seconds' } },
  ],
  // Dropbox may refuse concurrent listings of the same folder.
  budget: { at_once: 1 },
  check: {
    request: { path: '/2/users/get_current_account', method: 'POST' },
    message: 'logged in as {{ answer.email }}',
  },
  limits: [
    'Dropbox does not publish its request limits. If they are exceeded, its 429 response says how long to wait.',
    'An incremental run returns only changes, not the whole folder. For a table of all files, set `deleted: true` and `write: {disposition: merge, key: [path], deleted: deleted}`.',
    'A deleted folder is returned as one row with the folder’s path. The files that were in it may not have rows of their own.',
  ],
  example: `sources:
  team:
    connector: dropbox
    login: { client_id: "\${env:DROPBOX_APP_KEY}" }
jobs:
  reports:
    source: team
    query: { stream: files, path: /Reports }
`,
});
