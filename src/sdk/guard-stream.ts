import type { Duplex } from 'node:stream';

/**
 * Lets a stream's listeners throw: the stream is then destroyed with the result of `toError`, as if the connection had
 * failed. Without this, a parser error on unexpected bytes would escape from the socket's callback and crash the
 * process.
 */
export function guardStream<S extends Duplex>(stream: S, toError: (thrown: unknown) => Error): S {
  const emit = stream.emit.bind(stream) as (event: string | symbol, ...given: unknown[]) => boolean;
  const guarded = (event: string | symbol, ...given: unknown[]): boolean => {
    // If an `error` event has no listeners, `emit` itself throws the error, which must not be caught here.
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
