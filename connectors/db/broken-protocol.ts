import { Problem, seenIn } from '#sdk';

const next =
  'check that the host and port belong to a database of this kind; if they do, check the database server log';

/** The error for a server that violated the protocol. */
export function brokenProtocol(what: string, seen?: string): Problem {
  const shown = seen === undefined ? {} : { seen };
  return new Problem({ code: 'DB_PROTOCOL', family: 'try_later', message: `the server sent ${what}`, ...shown, next });
}

/** The server sent a row whose length doesn't match the total length of its cells. */
export function otherColumns(): Problem {
  return brokenProtocol('a row with more or fewer columns than announced');
}

/** The driver failed to parse bytes from the server. */
export function unreadable(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  return new Problem({
    code: 'DB_PROTOCOL',
    family: 'try_later',
    message: "protocol error: the driver cannot parse the server's data",
    seen: seenIn(thrown).message,
    next,
    cause: thrown,
  });
}
