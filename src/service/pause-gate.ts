/** A pause gate: holds new requests while the service's data is replaced. */
export class PauseGate {
  #opening: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** Resolves when the gate is open again; undefined while it is open. */
  get resumed(): Promise<void> | undefined {
    return this.#opening?.promise;
  }

  pause(): void {
    this.#opening ??= Promise.withResolvers<void>();
  }

  resume(): void {
    this.#opening?.resolve();
    this.#opening = undefined;
  }
}
