import type { Duplex } from 'node:stream';

/**
 * Lets a listener of the stream throw: the stream is destroyed with what `toError` makes of it, as if the connection had
 * failed. Without this, a parser that meets bytes its author did not expect throws out of the socket's callback and
 * ends the process, with all that others do in it.
 */
export function guardStream<S extends Duplex>(stream: S, toError: (thrown: unknown) => Error): S {
  const emit = stream.emit.bind(stream) as (event: string | symbol, ...given: unknown[]) => boolean;
  const guarded = (event: string | symbol, ...given: unknown[]): boolean => {
    // An error that has no listener is thrown by `emit` itself; that one must be seen.
    if (event === 'error') return emit(event, ...given);
    try {
      return emit(event, ...given);
    } catch (thrown) {
      stream.destroy(toError(thrown));
      return true;
    }
  };
  stream.emit = guarded as S['emit'];
  return stream;
}
