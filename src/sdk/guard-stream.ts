import type { Duplex } from 'node:stream';

/**
 * Lets listeners of the stream throw: the stream is then destroyed with the result of `toError`, as if the connection
 * had failed. Without this, a parser that throws on unexpected bytes throws out of the socket's callback and ends the
 * process, with everything that runs in it.
 */
export function guardStream<S extends Duplex>(stream: S, toError: (thrown: unknown) => Error): S {
  const emit = stream.emit.bind(stream) as (event: string | symbol, ...given: unknown[]) => boolean;
  const guarded = (event: string | symbol, ...given: unknown[]): boolean => {
    // `emit` itself throws an error event that has no listeners; that must not be caught.
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
