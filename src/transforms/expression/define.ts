/** Registers one function that never waits. */
export type Define = (signature: string, handler: (...args: never[]) => unknown) => void;
