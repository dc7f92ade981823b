/**
 * The only entry point for connector authors, imported as `#sdk`. Exports defineConnector, option, Problem and the
 * rest.
 */
import '../lib/temporal.ts';

export { exponentialMs } from '../lib/backoff.ts';
export { environmentWith } from '../lib/environment-with.ts';
export { expandHome } from '../lib/expand-home.ts';
export { networkWords, seenIn } from '../lib/network.ts';
export { passingAnswer, retryAfterMs } from '../lib/passing-answer.ts';
export { Problem, type ProblemOptions } from '../lib/problem.ts';
export {
  cutText,
  excerpt,
  excerptAt,
  redact,
  registerSecret,
  retireSecret,
  secretName,
  secretWord,
} from '../lib/redact.ts';
export { replacementCharacter } from '../lib/replaced-characters.ts';
export type { RunWarning } from '../lib/run-warnings.ts';
export { openScratchFile } from '../lib/scratch-file.ts';
export { type PreparedStatement, SqliteDatabase, type SqliteValue, sqliteErrorName } from '../lib/sqlite.ts';
export {
  type Batch,
  type ByteCells,
  batchOf,
  batchText,
  type Cells,
  cellText,
  storedRow,
  type Value,
  type ValueCells,
  valueText,
} from './batch.ts';
export { type Column, type ColumnType, columnTypes, type KeptColumn } from './column.ts';
export {
  type AttemptFacts,
  type Connector,
  type ConnectorLog,
  type DiscoverContext,
  defineConnector,
  type ExtractContext,
  type SourceContext,
} from './connector.ts';
export { BoundaryRows } from './cursor/boundary-rows.ts';
export {
  type CursorBound,
  isBefore,
  lagged,
  refuseCursorType,
  refuseCursorValue,
  refuseOtherType,
} from './cursor/cursor-value.ts';
export { type CursorWatermark, meantWatermark, parseWatermark, watermarkText } from './cursor/cursor-watermark.ts';
export { rangeBound, rangeBounds } from './cursor/range-bound.ts';
export { type Dataset, type DatasetColumn, isMatch } from './dataset.ts';
export type { Extraction, KeyList, Range, RowsAgain } from './extraction.ts';
export { greetingOf } from './greeting.ts';
export { guardStream } from './guard-stream.ts';
export { addParameters, addQuery, setParameter } from './http/address-query.ts';
export type { MayReach } from './http/addresses.ts';
export { blamedByErrors } from './http/blamed-by.ts';
export type { HttpClient, HttpClientOptions, HttpResponse } from './http/client.ts';
export { nextLink } from './http/link-header.ts';
export { openHttp } from './http/open.ts';
export { type JournalPage, PageJournal } from './http/page-journal.ts';
export { PageSpool, type SpooledPage } from './http/page-spool.ts';
export { httpProblem, shownUrl } from './http/problems.ts';
export { rateLimitPauseMs } from './http/rate-limit.ts';
export { readBeginning } from './http/read-beginning.ts';
export { type HttpRequest, lowerCased, ownHeaders, withUrl } from './http/request.ts';
export { withRetries } from './http/retry.ts';
export { readSoapFault, soapServerCode } from './http/soap-fault.ts';
export type { JobReference, JobRows, JobRowsOptions, RowsOf } from './job-rows.ts';
export { type LogIn, logInBy, type SourceAccount } from './log-in.ts';
export {
  type AssertionAlgorithm,
  assertionAlgorithms,
  type ClientAuthentication,
  type GrantKind,
  type OAuthDescription,
  type Token,
  type TokenSource,
} from './oauth.ts';
export {
  type JsonSchema,
  type Option,
  type OptionSet,
  type OptionValues,
  option,
  schemaOf,
  withDefaults,
} from './option.ts';
export { parsePath } from './places/path-syntax.ts';
export { type Place, parsePlace, placeAmong, placeFault } from './places/place.ts';
export { PlaceFinder } from './places/place-finder.ts';
export { placeValue } from './places/place-value.ts';
export { checkPreviewMethod, type FirstPage, type PreviewLimits } from './preview.ts';
export { type FileFinisher, finishFilesBy, linkNotFinished, moveTargetExists } from './records/after-delivery.ts';
export { afterDeliveryFaults, afterDeliveryOptions, filesToFinish } from './records/after-delivery-options.ts';
export { canonicalText } from './records/canonical.ts';
export {
  changedFilesOptions,
  changedFilesTraits,
  newestFile,
  readChangedFiles,
} from './records/changed-files.ts';
export { discoverFiles, isReadableName } from './records/discover-files.ts';
export { decodeText, isKnownEncoding, isUtf8Name, strictDecoder } from './records/encoding.ts';
export { fileOptions } from './records/file-options.ts';
export { readFiles } from './records/files.ts';
export {
  type DatedFile,
  type FilesRead,
  filesReadText,
  isFileWanted,
  type PendingFile,
  parseFilesRead,
  withFilesRead,
} from './records/files-read.ts';
export type { RecordInput } from './records/input.ts';
export { unescapeInPlace } from './records/json-text.ts';
export {
  formatOfMediaType,
  formatOfName,
  type RecordFormat,
  type RecordOptions,
  type RecordQuery,
  recordFaults,
  recordFormats,
  recordOptions,
} from './records/options.ts';
export {
  pathFaults,
  pathOptions,
  pathsOfRun,
  type QueryPath,
  topOf,
  type WrittenPath,
  writtenPaths,
} from './records/query-paths.ts';
export {
  type RecordReader,
  type RecordsShape,
  readRecords,
  recordReader,
  type SurveyAsk,
  type Surveyed,
} from './records/reader.ts';
export { storedBytes } from './records/stored-bytes.ts';
export {
  filesNotComplete,
  isTooYoung,
  isUploadName,
  minAgeOption,
  tooYoungReason,
  uploadReason,
  uploadsSkipped,
} from './records/unfinished-files.ts';
export type { AnswerPath, ServiceAnswer } from './service/answer.ts';
export type { ServiceCall } from './service/api-client.ts';
export { buildRequest, requestHash } from './service/build-request.ts';
export type * from './service/column-data.ts';
export { type BareCall, CredentialProvider, logInByCall } from './service/credential-provider.ts';
export { defineService } from './service/define-service.ts';
export type * from './service/description.ts';
export { isObject, parseExact, textOf } from './service/exact-json.ts';
export { type DateFormat, Moment, readMoment, secondsOf } from './service/moment.ts';
export { signOfMore, signPlaces } from './service/more-signs.ts';
export { type Pacer, pacerFor } from './service/pacer.ts';
export { type NextPage, Pager } from './service/paging.ts';
export type * from './service/paging-data.ts';
export { type ValuePath, valueAt, valuesAt } from './service/path.ts';
export { readTwice, totalWarning } from './service/read-twice.ts';
export { listAt } from './service/records.ts';
export { type ReportApi, readReport } from './service/report-job.ts';
export { ReportOrders } from './service/report-orders.ts';
export type * from './service/request-data.ts';
export { defineRetiredService } from './service/retired-service.ts';
export type * from './service/rules.ts';
export { withSignsOfLife } from './service/signs-of-life.ts';
export { renderDeep, renderText, type Scope, type Template, templateFault } from './service/template.ts';
export { boundOf, spansOf } from './service/windows.ts';
export { parseXml, type XmlPart, xmlParts } from './service/xml-tree.ts';
export type { SshLogin } from './ssh/login.ts';
export { openSsh, openTunnel, type SshConnection } from './ssh/open.ts';
export type { Tunnel } from './ssh/tunnel.ts';
export {
  certificateChecks,
  readTlsFiles,
  sslModes,
  type TlsFiles,
  type TlsTexts,
  type TlsVerification,
  tlsFileFaults,
  tlsFileSchemas,
  tlsModes,
  tlsVerificationFaults,
  tlsVerifySchema,
} from './tls.ts';
