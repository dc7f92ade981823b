import {
  defineService,
  fileOptions,
  formatOfMediaType,
  formatOfName,
  option,
  Problem,
  type RequestData,
  renderDeep,
  type Scope,
  type StreamData,
  valueAt,
} from '#sdk';
import { googleOAuth } from './_google-oauth.ts';

const members = 'id,name,mimeType,modifiedTime';
const everywhere = { supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' };
const sharedDrive = {
  corpora: ({ drive }: Scope) => (drive === undefined ? undefined : 'drive'),
  driveId: '{{ drive }}',
};

const where = {
  search: option.text({
    about: 'Search query in Google’s syntax. Default: all files.',
    example: "name contains 'orders' and mimeType = 'text/csv'",
  }),
  folder: option.text({
    about: 'ID of the folder to read, without its subfolders.',
    example: '1aBcD',
  }),
  drive: option.text({ about: 'ID of a shared drive to read instead of the user’s own files.', example: '0AbCdE' }),
};

/** Reads one file at a time. Uploaded files are downloaded unchanged; files in Google's own formats are exported. */
const bytes = {
  request: {
    path: (scope) => `/drive/${scope.api_version}/files/${fileOf(scope).id}${isNative(fileOf(scope)) ? '/export' : ''}`,
    query: {
      alt: (scope) => (isNative(fileOf(scope)) ? undefined : 'media'),
      mimeType: (scope) => (isNative(fileOf(scope)) ? exported(scope).type : undefined),
      supportsAllDrives: 'true',
    },
  },
  decode: { as: 'file', name: nameOf, modified: '{{ partition.file.modified }}' },
  records: '',
  columns: 'discovered',
} as const satisfies Partial<StreamData>;

const fields = { id: 'id', name: 'name', type: 'mimeType', modified: 'modifiedTime' };

/**
 * Google Drive API v3: file lists and file contents. The changes feed isn't used, because it covers the whole drive. A
 * job that reads one folder would have to page through all users' changes, and the feed's token supports neither a lag
 * nor past ranges. If there are no new files, a search by modification time costs only one small request.
 */
export default defineService({
  id: 'google_drive',
  title: 'Google Drive',
  summary:
    'Reads Google Drive files as tables (csv, json, xml, xlsx, zip, tar, Google Sheets), and Google Drive file listings.',
  version: 'v3',
  base: 'https://www.googleapis.com',
  login: {
    kind: 'oauth',
    oauth: googleOAuth('drive.readonly'),
  },
  streams: {
    files: {
      about: 'Files in Google Drive, by modification time.',
      options: { ...where, trashed: option.boolean({ about: 'Include files in the trash.', default: false }) },
      request: {
        path: '/drive/{{ api_version }}/files',
        query: {
          q: searchOf,
          orderBy: 'modifiedTime',
          pageSize: 1000,
          pageToken: '{{ page.token }}',
          fields: `kind,incompleteSearch,nextPageToken,files(${members},createdTime,size,parents,owners(emailAddress),lastModifyingUser(emailAddress),trashed,webViewLink)`,
          ...everywhere,
          ...sharedDrive,
        },
      },
      records: 'files',
      absent: 'kind',
      // Any page may be short or even empty. Only a missing page token marks the last page.
      paging: { by: 'token', at: 'nextPageToken', missing: 'end' },
      incremental: { column: 'modified', key: 'id', settles: '5m' },
      columns: {
        id: 'text',
        name: 'text',
        type: { type: 'text', at: 'mimeType' },
        size: 'integer',
        created: { type: 'timestamptz', at: 'createdTime' },
        modified: { type: 'timestamptz', at: 'modifiedTime' },
        modified_by: { type: 'text', at: 'lastModifyingUser.emailAddress' },
        owner: { type: 'text', at: 'owners.0.emailAddress' },
        folder: { type: 'text', at: 'parents.0' },
        trashed: 'boolean',
        link: { type: 'text', at: 'webViewLink' },
      },
    },
    content: {
      about: 'Rows from the files with the given IDs.',
      options: {
        file: option.text({
          about: 'File IDs, separated by commas; the ID is the long part of a file’s URL.',
          required: true,
          example: '1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms',
        }),
        ...fileOptions,
      },
      partitions: {
        id: { option: 'file' },
        file: {
          request: {
            path: '/drive/{{ api_version }}/files/{{ partition.id | url }}',
            query: { fields: members, supportsAllDrives: 'true' },
          },
          records: { one: '' },
          fields,
        },
      },
      ...bytes,
    },
    newest: {
      about: 'Rows from the most recently changed files that match a search.',
      options: {
        ...where,
        count: option.integer({
          about: 'Number of files to read into one table, newest first.',
          default: 1,
          minimum: 1,
          maximum: 100,
        }),
        ...fileOptions,
      },
      partitions: { file: { request: newestRequest(), records: 'files', absent: 'kind', fields } },
      ...bytes,
    },
    storage: {
      about: 'Total and used storage.',
      request: { path: '/drive/{{ api_version }}/about', query: { fields: 'user(emailAddress),storageQuota' } },
      records: { one: '' },
      columns: {
        account: { type: 'text', at: 'user.emailAddress' },
        limit: { type: 'integer', at: 'storageQuota.limit' },
        used: { type: 'integer', at: 'storageQuota.usage' },
        used_in_drive: { type: 'integer', at: 'storageQuota.usageInDrive' },
        used_in_bin: { type: 'integer', at: 'storageQuota.usageInDriveTrash' },
      },
    },
  },
  errors: [
    {
      body: { incompleteSearch: true },
      verdict: 'fail',
      message: 'did not complete the search',
      next: 'set `drive`, or narrow the `search`',
    },
    // If the rate limit is exceeded, Drive responds with status code 403 or 429.
    { body: { 'error.errors.*.reason': ['rateLimitExceeded', 'userRateLimitExceeded'] }, verdict: 'wait', limit: true },
    { body: { 'error.errors.*.reason': 'dailyLimitExceeded' }, verdict: 'daily' },
    {
      body: { 'error.errors.*.reason': 'exportSizeLimitExceeded' },
      verdict: 'config',
      messageAt: 'error.message',
      message: 'does not export files larger than 10 MB',
      next: 'read the spreadsheet with the google_spreadsheets connector',
    },
    {
      body: { 'error.errors.*.reason': 'accessNotConfigured' },
      verdict: 'permission',
      messageAt: 'error.message',
      next: 'enable the Google Drive API for the app used to log in',
    },
    {
      status: 404,
      verdict: 'config',
      messageAt: 'error.message',
      message: 'has no such file, or the account has no access to it',
      next: 'check `file`, `folder` and `drive`, and share them with the logged-in account',
    },
    { status: 400, verdict: 'config', messageAt: 'error.message', next: 'check `search`, `folder` and `drive`' },
  ],
  check: {
    request: { path: '/drive/{{ api_version }}/about', query: { fields: 'user(emailAddress)' } },
    message: 'logged in as {{ answer.user.emailAddress }}',
  },
  limits: [
    'Google exports Google Sheets spreadsheets as workbooks; with `format: csv`, it exports only the first sheet, as csv. Google limits exports to 10 MB. The google_spreadsheets connector has no such limit.',
    'Google Docs, drawings and shortcuts are not tables and are refused.',
    'With `incremental: true`, `content` and `newest` fetch their files only if at least one of them has changed, and then fetch all of them.',
    'An incremental run of `files` finds changed files, but neither deleted files nor files that were uploaded with an older modification time.',
    'Google’s request limits are unconfirmed; if Google reports too many requests, Sluice waits. It is also unconfirmed that the error for the daily limit is dailyLimitExceeded.',
  ],
  example: `sources:
  drive:
    connector: google_drive
    login: { client_id: "\${env:GOOGLE_CLIENT_ID}", client_secret: "\${env:GOOGLE_CLIENT_SECRET}" }
jobs:
  orders:
    source: drive
    query: { stream: newest, search: "name contains 'orders'", folder: 1aBcD }
`,
});

interface DriveFile {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

function fileOf(scope: Scope): DriveFile {
  return valueAt(scope, 'partition.file') as DriveFile;
}

function newestRequest(): RequestData {
  return {
    path: '/drive/{{ api_version }}/files',
    query: {
      q: (scope) =>
        ["mimeType != 'application/vnd.google-apps.folder'", searchOf({ ...scope, since: undefined })].join(' and '),
      orderBy: 'modifiedTime desc',
      pageSize: '{{ count }}',
      fields: `kind,incompleteSearch,files(${members})`,
      ...everywhere,
      ...sharedDrive,
    },
  };
}

/** Converts the options to a search query in Google's syntax. */
function searchOf(scope: Scope): string | undefined {
  const { search, trashed } = scope;
  const parts = [
    search === undefined ? undefined : `(${search})`,
    renderDeep('{{ folder | quoted }} in parents', scope),
    trashed === true ? undefined : 'trashed = false',
    renderDeep("modifiedTime >= '{{ since | iso }}'", scope),
  ];
  return parts.filter((part) => part !== undefined).join(' and ') || undefined;
}

function isNative({ name, type }: DriveFile): boolean {
  if (!type.startsWith('application/vnd.google-apps.')) return false;
  if (type === 'application/vnd.google-apps.spreadsheet') return true;
  throw new Problem({
    code: 'SERVICE_NO_TABLE',
    family: 'config',
    message: `"${name}" in Google Drive is not a table`,
    seen: type,
    allowed: 'a Google Sheets spreadsheet, or an uploaded file: csv, json, xml, xlsx, zip, tar',
    next: 'check `file` or `search`',
  });
}

function exported({ format }: Scope): { readonly type: string; readonly ending: string } {
  return format === 'csv'
    ? { type: 'text/csv', ending: 'csv' }
    : { type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', ending: 'xlsx' };
}

/** The file's name. If the name has no known extension, the extension for Google's content type is appended. */
function nameOf(scope: Scope): string {
  const file = fileOf(scope);
  if (isNative(file)) return `${file.name}.${exported(scope).ending}`;
  const extension = formatOfName(file.name) === undefined ? formatOfMediaType(file.type) : undefined;
  return extension === undefined ? file.name : `${file.name}.${extension}`;
}
