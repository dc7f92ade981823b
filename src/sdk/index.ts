/** The only entry point for connector authors, imported as `#sdk`: defineConnector, option, Problem and the rest. */
import '../lib/temporal.ts';

export { exponentialMs } from '../lib/backoff.ts';
export { passingAnswer } from '../lib/passing-answer.ts';
export type { ProblemOptions } from '../lib/problem.ts';
export { Problem } from '../lib/problem.ts';
export { cutText, excerpt, excerptAt, redact, registerSecret, secretName } from '../lib/redact.ts';
export type { RunWarning } from '../lib/run-warnings.ts';
export { openScratchFile } from '../lib/scratch-file.ts';
export type { PreparedStatement, SqliteValue } from '../lib/sqlite.ts';
export { SqliteDatabase, sqliteErrorName } from '../lib/sqlite.ts';
export type { Batch, ByteCells, Cells, Value, ValueCells } from './batch.ts';
export { batchOf, batchText, cellText, storedRow, valueText } from './batch.ts';
export type { Column, ColumnType } from './column.ts';
export { columnTypes } from './column.ts';
export type {
  AttemptFacts,
  Connector,
  ConnectorLog,
  DiscoverContext,
  ExtractContext,
  Extraction,
  LogIn,
  Range,
  RowsAgain,
  SourceAccount,
  SourceContext,
} from './connector.ts';
export { defineConnector, logInBy } from './connector.ts';
export type { Dataset, DatasetColumn } from './dataset.ts';
export { isMatch } from './dataset.ts';
export { greetingOf } from './greeting.ts';
export { guardStream } from './guard-stream.ts';
export { addParameters, addQuery, setParameter } from './http/address-query.ts';
export type { MayReach } from './http/addresses.ts';
export { blamedByErrors } from './http/blamed-by.ts';
export type { HttpClient, HttpClientOptions, HttpResponse } from './http/client.ts';
export { nextLink } from './http/link-header.ts';
export { openHttp } from './http/open.ts';
export type { SpooledPage } from './http/page-spool.ts';
export { PageSpool } from './http/page-spool.ts';
export { httpProblem, shownUrl } from './http/problems.ts';
export { rateLimitPauseMs } from './http/rate-limit.ts';
export type { HttpRequest } from './http/request.ts';
export { lowerCased, ownHeaders, withUrl } from './http/request.ts';
export { withRetries } from './http/retry.ts';
export { readSoapFault, soapServerCode } from './http/soap-fault.ts';
export { networkWords, seenIn } from './network.ts';
export type { GrantKind, OAuthDescription, Token, TokenSource } from './oauth.ts';
export type { JsonSchema, Option, OptionSet, OptionValues } from './option.ts';
export { option, schemaOf, withDefaults } from './option.ts';
export { canonicalText } from './records/canonical.ts';
export {
  changedFilesOptions,
  changedFilesTraits,
  newestFile,
  readChangedFiles,
} from './records/changed-files.ts';
export { discoverFiles, isReadableName } from './records/discover-files.ts';
export { isKnownEncoding } from './records/encoding.ts';
export { fileOptions } from './records/file-options.ts';
export { readFiles } from './records/files.ts';
export type { DatedFile, FilesRead } from './records/files-read.ts';
export { filesReadText, isFileWanted, parseFilesRead, withFilesRead } from './records/files-read.ts';
export type { RecordInput } from './records/input.ts';
export type { RecordFormat, RecordOptions, RecordQuery } from './records/options.ts';
export { formatOfMediaType, formatOfName, recordFaults, recordFormats, recordOptions } from './records/options.ts';
export type { RecordReader, RecordsShape, SurveyAsk, Surveyed } from './records/reader.ts';
export { readRecords, recordReader } from './records/reader.ts';
export type { AnswerPath, ServiceAnswer } from './service/answer.ts';
export { buildRequest } from './service/build-request.ts';
export { type BareCall, CredentialProvider, logInByCall } from './service/credential-provider.ts';
export { defineService } from './service/define-service.ts';
export type * from './service/description.ts';
export { isObject, parseExact, textOf } from './service/exact-json.ts';
export type { DateFormat } from './service/moment.ts';
export { Moment, readMoment } from './service/moment.ts';
export { signOfMore, signPlaces } from './service/more-signs.ts';
export type { NextPage } from './service/paging.ts';
export { Pager } from './service/paging.ts';
export type * from './service/paging-data.ts';
export type { ValuePath } from './service/path.ts';
export { valueAt, valuesAt } from './service/path.ts';
export { readTwice, totalWarning } from './service/read-twice.ts';
export { listAt } from './service/records.ts';
export type * from './service/request-data.ts';
export { defineRetiredService } from './service/retired-service.ts';
export type * from './service/rules.ts';
export type { Scope, Template } from './service/template.ts';
export { renderDeep, templateFault } from './service/template.ts';
export { boundOf, spansOf } from './service/windows.ts';
export { type XmlPart, xmlParts } from './service/xml-tree.ts';
export type { SshLogin } from './ssh/login.ts';
export type { SshConnection } from './ssh/open.ts';
export { openSsh, openTunnel } from './ssh/open.ts';
export type { Tunnel } from './ssh/tunnel.ts';
export type { TlsFiles, TlsTexts } from './tls.ts';
export { readTlsFiles, tlsFileFaults, tlsFileSchemas } from './tls.ts';
