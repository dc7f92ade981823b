import { networkWords, seenIn } from '../../lib/network.ts';
import type { PassingAnswer } from '../../lib/passing-answer.ts';
import { Problem, type ProblemOptions } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import { blamedBy } from './blamed-by.ts';
import { messageIn } from './message-in.ts';

/** A URL without its query string, because the query string may contain an API key. */
export function shownUrl(url: URL): string {
  return redact(`${url.origin}${url.pathname}`);
}

const away: Readonly<Record<string, string>> = {
  ...networkWords,
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'response timed out',
  UND_ERR_BODY_TIMEOUT: 'response body timed out',
  UND_ERR_SOCKET: 'connection closed before the response was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'response shorter than its Content-Length',
};

/** The problem for an error thrown by a request or while its response was being read. */
export function networkProblem(url: URL, thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  const { code, message } = seenIn(thrown);
  const place = shownUrl(url);
  if (/CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS_|^ERR_SSL_|^EPROTO/.test(code)) {
    const { what, next } = tlsWords(code, url);
    return httpProblem('REST_TLS', 'job', `${place}: ${what}`, { seen: redact(message), next, cause: thrown });
  }
  if (code === 'UND_ERR_INVALID_ARG' || code === 'ERR_INVALID_CHAR') {
    return httpProblem('REST_REQUEST', 'config', 'the request is invalid and cannot be sent', {
      seen: redact(message),
      next: 'check `method`, `headers` and `parameters`',
      cause: thrown,
    });
  }
  if (/^Z_|^ERR_BROTLI|^ERR__ERROR|ZSTD/.test(code))
    return cutAnswer(place, 'the compressed response is damaged', thrown);
  if (thrown instanceof DOMException && thrown.name === 'TimeoutError') return timeout(place, thrown);
  const because = away[code] ?? (code.startsWith('HPE_') ? 'the response is not HTTP' : redact(message));
  return httpProblem('REST_UNREACHABLE', 'try_later', `${place}: ${because}`, {
    seen: code || redact(message),
    next: `check the address, and that ${url.host} can be reached from this machine; the request is retried automatically`,
    cause: thrown,
  });
}

/** What's wrong with a TLS connection, and the fix. */
function tlsWords(code: string, url: URL): { what: string; next: string } {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return {
      what: `the server certificate is not valid for the host ${url.hostname}`,
      next: "use a host name for which the certificate was issued, or ask the server's operator for another certificate",
    };
  }
  if (/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/.test(code)) {
    return {
      what: `the server certificate ${code.endsWith('EXPIRED') ? 'has expired' : 'is not valid yet'}`,
      next: "check this machine's clock, or ask the server's operator for a new certificate",
    };
  }
  if (/^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$|^EPROTO/.test(code)) {
    return {
      what: 'the TLS handshake failed: the server may not use TLS on this port',
      next: 'check the port, or use a URL that starts with http:// if the server does not use TLS',
    };
  }
  if (code.startsWith('ERR_SSL_')) {
    return { what: 'the TLS handshake failed', next: "check the server's TLS settings" };
  }
  return {
    what: 'the server certificate is not trusted',
    next: 'set `ca_file` to the certificate of the authority that signed it',
  };
}

function cutAnswer(place: string, what: string, cause: unknown): Problem {
  const next = 'the request is retried automatically; if this persists, check the server and any proxies in between';
  return httpProblem('REST_UNREACHABLE', 'try_later', `${place}: ${what}`, { next, cause });
}

function timeout(place: string, cause: unknown): Problem {
  return httpProblem('REST_UNREACHABLE', 'try_later', `${place}: the response timed out before it was complete`, {
    next: 'request smaller pages with `paging`, or raise `answer_seconds`',
    cause,
  });
}

/** A response with an error status. */
export interface HttpRefusal {
  readonly url: URL;
  readonly status: number;
  /** The beginning of the response. */
  readonly text: string;
  /** True if the status and headers show that the error is transient. */
  readonly passing: PassingAnswer | undefined;
}

/** The problem for a response with an error status. */
export function refusalProblem({ url, status, text, passing }: HttpRefusal): Problem {
  const place = shownUrl(url);
  const reason = messageIn(text);
  const seen = reason === '' ? `status ${status}` : `status ${status}: ${reason}`;
  const blamed = blamedBy({ status, text });
  if (blamed !== 'request' && (passing !== undefined || blamed === 'server')) {
    const { isRateLimit = false, retryAfterMs } = passing ?? {};
    return httpProblem(
      'REST_BUSY',
      'try_later',
      isRateLimit ? `rate limited by ${place}` : `${place} is currently unavailable`,
      {
        seen,
        next: isRateLimit
          ? "send fewer requests, request larger pages, or ask the server's operator for a higher limit"
          : "to try again, run `sluice check --connect`; if this persists, ask the server's operator",
        retryAfterMs,
        isRateLimit,
      },
    );
  }
  if (status === 401 || status === 403) {
    return httpProblem('REST_LOGIN', 'login', `${place} refused the credentials`, {
      seen,
      next: "fix the source's `auth`",
      ...(status === 401 ? { refusedPath: place } : {}),
    });
  }
  if (status === 404 || status === 410) {
    return httpProblem('REST_NOT_FOUND', 'job', `${place} was not found`, {
      seen,
      next: "check `path` or `endpoint_url`, and the source's `url`",
    });
  }
  const next = 'check `method`, `parameters` and `body`';
  return httpProblem('REST_REFUSED', 'job', `${place} refused the request`, { seen, next });
}

/** A Problem of this family, about a request to one of the connector's URLs. */
export function httpProblem(
  code: string,
  family: ProblemOptions['family'],
  message: string,
  more: Partial<ProblemOptions> = {},
): Problem {
  return new Problem({ ...more, code, family, message });
}
