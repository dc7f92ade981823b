/** Makes new requests wait while the service's data is being replaced. */
export class PauseGate {
  #opening: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** A promise that resolves when the gate opens again; undefined while the gate is open. */
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
