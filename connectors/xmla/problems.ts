import { cutText, Problem, type ProblemOptions, soapServerCode } from '#sdk';
import { partOf } from './tree.ts';

const fail = (init: Omit<ProblemOptions, 'family'> & Partial<Pick<ProblemOptions, 'family'>>): Problem =>
  new Problem({ family: 'job', ...init });

/**
 * The problem to report for a SOAP fault. The fault's details are more specific than its `faultstring`. The `Server`
 * code means that a retry may help; Mondrian uses this code if its database is down.
 */
export function refused(fault: unknown): Problem {
  const details = partOf(fault, 'detail', 'Error', '@Description') ?? partOf(fault, 'detail', 'error', 'desc');
  const reason = details ?? partOf(fault, 'faultstring') ?? 'no reason';
  if (soapServerCode.test(String(partOf(fault, 'faultcode')))) {
    return fail({
      code: 'XMLA_BUSY',
      family: 'try_later',
      message: 'the server could not run the statement',
      seen: cutText(String(reason), 500),
      next: "the request is retried automatically; if this persists, check the server's log",
    });
  }
  return fail({
    code: 'XMLA_REFUSED',
    family: 'config',
    message: 'the server refused the statement',
    seen: cutText(String(reason), 500),
    next: 'try the same statement in another client; the `cubes` and `measures` streams list all cubes and measures',
  });
}

/** The result contains an error, which arrived after valid rows. */
export function brokeOff(messages: unknown): Problem {
  const reason = partOf(messages, 'Error', '@Description') ?? 'no reason';
  return fail({
    code: 'XMLA_BROKE_OFF',
    message: 'the server stopped in the middle of the result',
    seen: cutText(String(reason), 500),
  });
}

/** The server accepted the statement but didn't return a result. */
export function noResult(): Problem {
  return fail({
    code: 'XMLA_NO_RESULT',
    message: 'the server returned no result',
    next: 'check that the statement returns a result, and that the URL is the XMLA endpoint',
  });
}

/** A cell arrived out of order. `ordinal` is the cell's number in the response. */
export function disordered(ordinal: number): Problem {
  return fail({
    code: 'XMLA_DISORDER',
    message: 'the cells of the result are out of order',
    seen: `cell ${ordinal}`,
    next: 'read the result in the tabular layout',
  });
}

/** The response is not XML. */
export function unreadable(cause: unknown): Problem {
  return fail({
    code: 'XMLA_UNREADABLE',
    family: 'try_later',
    message: 'the server returned a response that is not XML',
    seen: cutText((cause as Error).message, 200),
    next: 'if this persists, check whether a proxy or a sign-in page responds instead of the server',
    cause,
  });
}
