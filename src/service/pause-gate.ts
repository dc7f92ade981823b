/** Keeps new requests waiting while the service under them is being replaced. */
export class PauseGate {
  #opening: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** What a request waits for before anything of it is looked at; undefined while the gate is open. */
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
